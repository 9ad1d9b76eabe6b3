/* Local memory: for each core a map with the heap of ldm_malloc, the stack, and (above it, where threads have it) thread-local data.
 *
 * How much stack a kernel takes is read from paint. The emulator's own functions run on the same stack: what lies below a kernel's frame
 * when it calls one of them is looked at before and painted again afterwards.
 */
#include "emulator.h"

#include <link.h>
#include <string.h>
#include <sys/mman.h>

#include "../include/slave.h"

enum {
  WINDOW = 4 << 10,   /* the emulator's own frames are within this */
  CALL = 512,         /* counted as what a call of the interface takes of the stack by itself; the emulator leaves words of its own there */
  SLACK = 256 << 10,  /* stack beyond the capacity, so that too much is reported and not a crash */
  GUARD = 64 << 10,
  OWN = 2 * sizeof(void *), /* thread-local data of the emulator */
};

/* Thread-local data of the program, which comes first, in the thread that asks. */
struct tls {
  char *first;
  size_t bytes;
};

static int of_program(struct dl_phdr_info *info, size_t size, void *given)
{
  (void)size;
  struct tls *tls = given;
  for (int i = 0; i < info->dlpi_phnum; i++)
    if (info->dlpi_phdr[i].p_type == PT_TLS)
      *tls = (struct tls){info->dlpi_tls_data, info->dlpi_phdr[i].p_memsz};
  return 1;
}

/* The pattern as it is at an address. */
static uint64_t pattern_at(const char *first)
{
  unsigned shift = (uintptr_t)first % 8 * 8;
  return shift == 0 ? POISON : POISON >> shift | POISON << (64 - shift);
}

void poison(char *first, size_t bytes)
{
  const uint64_t pattern = pattern_at(first);
  for (; bytes >= sizeof pattern; first += sizeof pattern, bytes -= sizeof pattern)
    memcpy(first, &pattern, sizeof pattern);
  memcpy(first, &pattern, bytes);
}

int poisoned(const char *first, size_t bytes)
{
  const uint64_t pattern = pattern_at(first);
  for (; bytes >= sizeof pattern; first += sizeof pattern, bytes -= sizeof pattern)
    if (memcmp(first, &pattern, sizeof pattern) != 0)
      return 0;
  return memcmp(first, &pattern, bytes) == 0;
}

void ldm_init(struct core *core)
{
  struct machine *m = machine();
  size_t heap = m->capacity, stack = m->capacity + SLACK + (1 << 20);
  size_t total = heap + GUARD + stack;
  char *map = mmap(NULL, total + (1 << 20), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  core->signal_stack = mmap(NULL, SIGNAL_STACK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (map == MAP_FAILED || core->signal_stack == MAP_FAILED)
    broken("threads", NULL, NULL, "no memory for the local memory of core %d", core->id);
  /* All cores alike, so that the same place in another core is a difference of addresses. */
  map += (1 << 20) - (uintptr_t)map % (1 << 20);
  core->heap = map;
  core->heap_end = map + heap;
  mprotect(map + heap, GUARD, PROT_NONE);
  core->stack = map + heap + GUARD;
  core->stack_end = map + total;
  core->base = core->lowest = core->stack_end;
}

void ldm_thread_begins(struct core *core)
{
  struct tls tls = {NULL, 0};
  dl_iterate_phdr(of_program, &tls);
  core->thread_local_data = tls.first;
  machine()->static_bytes = tls.bytes > OWN ? tls.bytes - OWN : 0;
}

/* The stack is looked at and painted again at every call: a word at a time, that would be a third of an emulation. */
typedef uint64_t pair __attribute__((vector_size(16), may_alias));
enum { LINE = 4 * sizeof(pair) };

/* The lowest word of [from, to) that is not paint, or `to`. */
static char *unpainted(char *from, char *to)
{
  from += -(uintptr_t)from % 8;
  while (from < to && (uintptr_t)from % sizeof(pair) != 0 && *(volatile uint64_t *)from == POISON)
    from += 8;
  const pair painted = {POISON, POISON};
  if ((uintptr_t)from % sizeof(pair) == 0)
    for (; from < to && to - from >= LINE; from += LINE) {
      const volatile pair *line = (const volatile pair *)from;
      pair different = (line[0] ^ painted) | (line[1] ^ painted) | (line[2] ^ painted) | (line[3] ^ painted);
      if ((different[0] | different[1]) != 0)
        break;
    }
  while (from < to && *(volatile uint64_t *)from == POISON)
    from += 8;
  return from < to ? from : to;
}

static inline __attribute__((always_inline)) void paint(char *from, char *to)
{
  from += -(uintptr_t)from % 8;
  for (; from + 8 <= to && (uintptr_t)from % sizeof(pair) != 0; from += 8)
    *(volatile uint64_t *)from = POISON;
  const pair painted = {POISON, POISON};
  for (; from + LINE <= to; from += LINE) {
    volatile pair *line = (volatile pair *)from;
    line[0] = painted;
    line[1] = painted;
    line[2] = painted;
    line[3] = painted;
  }
  for (; from + 8 <= to; from += 8)
    *(volatile uint64_t *)from = POISON;
}

static char *bottom(const struct core *core)
{
  size_t depth = machine()->capacity + SLACK;
  char *lowest = core->base - depth;
  return lowest > core->stack ? lowest : core->stack;
}

void ldm_before_kernel(struct core *core, char *frame)
{
  core->base = frame;
  core->lowest = frame;
  char *here = __builtin_frame_address(0);
  paint(bottom(core), here - 512);
}

static size_t stack_used(const struct core *core)
{
  return core->lowest < core->base ? (size_t)(core->base - core->lowest) : 0;
}

void ldm_check(struct core *core)
{
  struct machine *m = machine();
  size_t stack = stack_used(core), all = m->static_bytes + stack + core->heap_used;
  struct report *report = &m->report;
  if (all > report->ldm_peak)
    report->ldm_peak = all;
  if (stack > report->stack_peak)
    report->stack_peak = stack;
  if (core->heap_peak > report->heap_peak)
    report->heap_peak = core->heap_peak;
  report->ldm_static = m->static_bytes;
  if (all > m->capacity)
    broken("ldm-overflow", core, NULL,
           "local memory has %zu bytes, and %zu of thread-local data, %zu of stack and %zu of ldm_malloc are in use", m->capacity,
           m->static_bytes, stack, core->heap_used);
}

/* Down from where paint matters: what is above the deepest place known tells nothing new, and so near to a frame it is that of paint itself. */
static char *paint_end(const struct core *core, char *here)
{
  enum { OWN_FRAME = 192 };
  return here - OWN_FRAME < core->lowest ? here - OWN_FRAME : core->lowest;
}

/* `frame` is that of the function that the kernel called. */
void ldm_entered(struct core *core, char *frame)
{
  char *window = frame - WINDOW;
  if (window < bottom(core))
    window = bottom(core);
  if (frame - CALL < core->lowest)
    core->lowest = frame - CALL;
  char *end = paint_end(core, __builtin_frame_address(0)), *touched = unpainted(window, end);
  if (touched < end)
    core->lowest = touched;
  ldm_check(core);
}

__attribute__((noinline)) void ldm_repaint(struct core *core)
{
  char *here = __builtin_frame_address(0);
  char *window = here - WINDOW;
  if (window < bottom(core))
    window = bottom(core);
  paint(window, paint_end(core, here));
}

void ldm_after_kernel(struct core *core)
{
  char *here = __builtin_frame_address(0);
  char *touched = unpainted(bottom(core), here - 256);
  if (touched < here - 256 && touched < core->lowest)
    core->lowest = touched;
  ldm_check(core);
}

int ldm_holds(const struct core *core, const void *address, size_t bytes)
{
  const char *first = address, *end = first + bytes;
  if (end < first)
    return 0;
  const char *tls = core->thread_local_data;
  return (first >= core->heap && end <= core->heap_end) || (first >= core->stack && end <= core->base) ||
         (tls != NULL && first >= tls && end <= tls + machine()->static_bytes + OWN);
}

int ldm_of_heap(const struct core *core, const void *address)
{
  const char *at = address;
  return at >= core->heap && at < core->heap_end;
}

const struct piece *ldm_piece(const struct core *core, const void *address)
{
  const char *at = address;
  for (int k = 0; k < core->piece_count; k++)
    if (at >= core->pieces[k].first && at < core->pieces[k].first + core->pieces[k].bytes)
      return &core->pieces[k];
  return NULL;
}

void ldm_check_null(const struct core *core, const struct transfer *transfer, const void *address)
{
  if (core->refused == 0 || (uintptr_t)address >= core->refused)
    return;
  char kept[100] = "";
  if (core->heap_kept > 0)
    snprintf(kept, sizeof kept, "; %zu bytes were taken by kernels before this one and never given back", core->heap_kept);
  broken("ldm-overflow", core, transfer, "ldm_malloc has given NULL, and that is used: local memory is full, %zu bytes were wanted and %zu are left%s", core->refused,
         core->refused_left, kept);
}

char *ldm_same(const struct core *from, const struct core *to, const void *address)
{
  return to->heap + ((const char *)address - from->heap);
}

/* ---- ldm_malloc: first fit in a sorted list of pieces ---- */

enum { GRAIN = 32 };

void *ldm_malloc(size_t size)
{
  struct core *core = enter("ldm_malloc", __builtin_frame_address(0));
  size_t bytes = (size + GRAIN - 1) / GRAIN * GRAIN;
  char *result = NULL;
  int at = 0;
  int most = (int)(sizeof core->pieces / sizeof core->pieces[0]);
  if (size > 0 && size <= machine()->capacity && core->piece_count < most) {
    char *free_from = core->heap;
    for (at = 0; at <= core->piece_count; at++) {
      char *until = at < core->piece_count ? core->pieces[at].first : core->heap_end;
      if ((size_t)(until - free_from) >= bytes) {
        result = free_from;
        break;
      }
      if (at < core->piece_count)
        free_from = core->pieces[at].first + core->pieces[at].bytes;
    }
    size_t others = machine()->static_bytes + stack_used(core) + core->heap_used;
    if (others + bytes > machine()->capacity)
      result = NULL;
  }
  if (result == NULL) {
    size_t used = machine()->static_bytes + stack_used(core) + core->heap_used;
    core->refused = size > 0 ? size : 1;
    core->refused_left = used < machine()->capacity ? machine()->capacity - used : 0;
  } else {
    memmove(&core->pieces[at + 1], &core->pieces[at], (size_t)(core->piece_count - at) * sizeof core->pieces[0]);
    core->pieces[at].first = result;
    core->pieces[at].bytes = bytes;
    core->pieces[at].wanted = size;
    core->piece_count++;
    core->heap_used += bytes;
    if (core->heap_used > core->heap_peak)
      core->heap_peak = core->heap_used;
    poison(result, bytes);
    ldm_check(core);
  }
  leave(core);
  return result;
}

void ldm_free(void *memory, size_t size)
{
  struct core *core = enter("ldm_free", __builtin_frame_address(0));
  size_t bytes = (size + GRAIN - 1) / GRAIN * GRAIN;
  int at = 0;
  while (at < core->piece_count && core->pieces[at].first != memory)
    at++;
  if (at == core->piece_count || core->pieces[at].bytes != bytes)
    broken("ldm-free", core, NULL, "ldm_free of %zu bytes at %p, which ldm_malloc did not give", size, memory);
  for (struct transfer *t = core->pending; t != NULL; t = t->next)
    if (t->local < core->pieces[at].first + bytes && t->local + t->len > core->pieces[at].first)
      broken("in-flight", core, t, "ldm_free takes its local memory away");
  poison(core->pieces[at].first, bytes);
  core->piece_count--;
  memmove(&core->pieces[at], &core->pieces[at + 1], (size_t)(core->piece_count - at) * sizeof core->pieces[0]);
  core->heap_used -= bytes;
  leave(core);
}

size_t get_allocatable_size(void)
{
  struct core *core = enter("get_allocatable_size", __builtin_frame_address(0));
  size_t used = machine()->static_bytes + stack_used(core) + core->heap_used;
  size_t left = used < machine()->capacity ? machine()->capacity - used : 0;
  leave(core);
  return left / GRAIN * GRAIN;
}
