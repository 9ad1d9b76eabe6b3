/* Main memory that the emulator knows: blocks from the program's malloc, which come from an arena mapped twice, and arrays that the program
 * names. The program's view of the arena is closed to it while cores run (guard.c); the emulator uses the other view.
 */
#include "emulator.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "../include/athread.h"

enum { GRAIN = 64 };

/* ---- the table of arrays, sorted by address ---- */

/* Where `address` is or would be. */
static size_t position(const struct machine *m, const char *address)
{
  size_t low = 0, high = m->array_count;
  while (low < high) {
    size_t middle = (low + high) / 2;
    if (m->arrays[middle].first <= address)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

struct array *array_at(const void *address)
{
  struct machine *m = machine();
  const char *at = address;
  if (m->last_array < m->array_count) {
    struct array *last = &m->arrays[m->last_array];
    const char *end = m->last_array + 1 < m->array_count ? last[1].first : last->first + last->bytes;
    if (at >= last->first && at < last->first + last->bytes && at < end)
      return last;
  }
  /* The innermost: arrays may be parts of a block. */
  size_t k = position(m, at);
  for (int steps = 0; k > 0 && steps < 64; steps++) {
    struct array *array = &m->arrays[--k];
    if (at < array->first + array->bytes) {
      m->last_array = k;
      return array;
    }
  }
  return NULL;
}

static struct array *insert(struct machine *m, char *first)
{
  if (m->array_count == m->array_room) {
    size_t room = m->array_room ? 2 * m->array_room : 256;
    struct array *larger = realloc(m->arrays, room * sizeof *larger);
    if (larger == NULL)
      broken("memory", NULL, NULL, "no memory for the table of arrays");
    m->arrays = larger;
    m->array_room = room;
  }
  size_t k = position(m, first);
  memmove(&m->arrays[k + 1], &m->arrays[k], (m->array_count - k) * sizeof m->arrays[0]);
  m->array_count++;
  m->last_array = SIZE_MAX;
  struct array *array = &m->arrays[k];
  memset(array, 0, sizeof *array);
  array->first = first;
  array->element = 4;
  return array;
}

static void drop_shadow(struct array *array)
{
  if (array->shadow != NULL)
    munmap(array->shadow, array->shadow_bytes);
  array->shadow = NULL;
  array->shadow_bytes = 0;
}

static void drop(struct machine *m, struct array *array)
{
  drop_shadow(array);
  if (array->alias != NULL)
    munmap(array->alias, array->page_bytes);
  size_t k = (size_t)(array - m->arrays);
  memmove(array, array + 1, (m->array_count - k - 1) * sizeof *array);
  m->array_count--;
  m->last_array = SIZE_MAX;
}

static struct array *exactly(struct machine *m, const char *first)
{
  size_t k = position(m, first);
  return k > 0 && m->arrays[k - 1].first == first ? &m->arrays[k - 1] : NULL;
}

static int in_arena(const struct machine *m, const char *at)
{
  return m->arena != NULL && at >= m->arena && at < m->arena + m->arena_room;
}

int of_heap(const void *at)
{
  return in_arena(machine(), at);
}

void memory_init(struct machine *m)
{
  guard_init();
  if (m->free_running)
    return; /* a closed page would stop other threads too */
  for (m->arena_room = (size_t)1 << 36; m->arena_room >= (size_t)1 << 30; m->arena_room >>= 1) {
    m->arena = twice_mapped(m->arena_room, NULL, &m->arena_alias);
    if (m->arena != NULL)
      return;
  }
}

/* ---- malloc and its kin of the management core; objcopy puts these names into host files ---- */

static void *take_block(size_t size, size_t alignment, int zero)
{
  struct machine *m = machine();
  size_t bytes = (size + GRAIN - 1) / GRAIN * GRAIN;
  if (bytes < size || alignment > (size_t)1 << 30)
    return NULL;
  if (bytes == 0)
    bytes = GRAIN;
  if (alignment < GRAIN)
    alignment = GRAIN;
  char *first = NULL;
  size_t room = bytes;
  if (m->arena != NULL) {
    for (size_t k = 0; k < m->hole_count; k++) {
      if (m->holes[k].bytes < bytes || m->holes[k].bytes > 2 * bytes + 4096 || m->holes[k].at % alignment != 0)
        continue;
      first = m->arena + m->holes[k].at;
      room = m->holes[k].bytes;
      m->holes[k] = m->holes[--m->hole_count];
      if (zero)
        memset(first - m->arena + m->arena_alias, 0, bytes);
      break;
    }
    if (first == NULL) {
      size_t at = (m->arena_used + alignment - 1) / alignment * alignment;
      if (at + bytes > m->arena_room || at + bytes < at) {
        errno = ENOMEM;
        return NULL;
      }
      m->arena_used = at + bytes;
      first = m->arena + at;
    }
  } else {
    void *block = NULL;
    if (posix_memalign(&block, alignment, bytes) != 0)
      return NULL;
    if (zero)
      memset(block, 0, bytes);
    first = block;
  }
  struct array *array = insert(m, first);
  array->bytes = size;
  array->room = room;
  snprintf(array->name, sizeof array->name, "block of %zu bytes", size);
  return first;
}

void *emulated_malloc(size_t size)
{
  return take_block(size, GRAIN, 0);
}

void *emulated_calloc(size_t count, size_t size)
{
  size_t bytes;
  return __builtin_mul_overflow(count, size, &bytes) ? NULL : take_block(bytes, GRAIN, 1);
}

void *emulated_aligned_alloc(size_t alignment, size_t size)
{
  return take_block(size, alignment, 0);
}

int emulated_posix_memalign(void **result, size_t alignment, size_t size)
{
  *result = take_block(size, alignment, 0);
  return *result == NULL ? ENOMEM : 0;
}

void emulated_free(void *block)
{
  struct machine *m = machine();
  if (block == NULL)
    return;
  struct array *array = exactly(m, block);
  if (array == NULL || array->room == 0) {
    free(block); /* of the C library's own */
    return;
  }
  size_t room = array->room;
  /* What the program has named within it goes too. */
  size_t k = (size_t)(array - m->arrays);
  while (k + 1 < m->array_count && m->arrays[k + 1].first < (char *)block + room)
    drop(m, &m->arrays[k + 1]);
  drop(m, &m->arrays[k]);
  if (!in_arena(m, block)) {
    free(block);
    return;
  }
  size_t at = (size_t)((char *)block - m->arena);
  if (room >= (size_t)1 << 20) /* give its pages back; they read as zeros afterwards */
    madvise(m->arena + (at + 4095) / 4096 * 4096, room - 8192, MADV_REMOVE);
  if (m->hole_count == m->hole_room) {
    size_t more = m->hole_room ? 2 * m->hole_room : 256;
    void *larger = realloc(m->holes, more * sizeof m->holes[0]);
    if (larger == NULL)
      return;
    m->holes = larger;
    m->hole_room = more;
  }
  m->holes[m->hole_count].at = at;
  m->holes[m->hole_count++].bytes = room;
}

void *emulated_realloc(void *block, size_t size)
{
  if (block == NULL)
    return emulated_malloc(size);
  struct array *array = exactly(machine(), block);
  if (array == NULL || array->room == 0)
    return realloc(block, size);
  size_t old = array->room < size ? array->room : size;
  void *larger = emulated_malloc(size);
  if (larger != NULL) {
    memcpy(larger, block, old);
    emulated_free(block);
  }
  return larger;
}

/* ---- arrays that the program names ---- */

static int on_stack(const char *first)
{
  pthread_attr_t attributes;
  void *low = NULL;
  size_t size = 0;
  if (pthread_getattr_np(pthread_self(), &attributes) == 0) {
    pthread_attr_getstack(&attributes, &low, &size);
    pthread_attr_destroy(&attributes);
  }
  return first >= (char *)low && first < (char *)low + size;
}

/* Moves the whole pages of an array to where they can be closed to the program and still be reached. */
static void remap(struct machine *m, struct array *array)
{
  size_t page = (size_t)sysconf(_SC_PAGESIZE);
  char *from = array->first + (-(uintptr_t)array->first) % page;
  char *to = array->first + array->bytes - (uintptr_t)(array->first + array->bytes) % page;
  if (m->free_running || m->arena == NULL || to <= from || on_stack(array->first))
    return;
  size_t bytes = (size_t)(to - from);
  char *alias = NULL;
  if (twice_mapped(bytes, from, &alias) == NULL)
    return;
  array->pages = from;
  array->page_bytes = bytes;
  array->alias = alias;
}

/* Globals of slave files, which are put into a section of their own: main memory. This page is at its end, and makes it whole pages. */
static char globals_end[4096] __attribute__((aligned(4096), section("slave_data"), used)) = {1};
extern char __start_slave_data[] __attribute__((visibility("hidden")));

static int of_slaves(const char *at)
{
  return at >= __start_slave_data && at < globals_end;
}

void memory_of_slaves(struct machine *m)
{
  char *first = __start_slave_data;
  if (first >= globals_end || exactly(m, first) != NULL)
    return;
  struct array *array = insert(m, first);
  array->bytes = (size_t)(globals_end - first);
  array->workspace = 1;
  snprintf(array->name, sizeof array->name, "globals of slave files");
  remap(m, array);
}

/* A program may use a block for one array after another: names of arrays that the new one overlaps go. */
static void forget_overlapped(struct machine *m, const char *first, size_t bytes)
{
  size_t k = position(m, first - 1);
  for (size_t steps = 0, before = k; before > 0 && steps < 64; steps++) {
    struct array *array = &m->arrays[--before];
    const char *end = array->first + array->bytes;
    if (array->room == 0 && end > first && end < first + bytes) {
      drop(m, array);
      k--;
    }
  }
  while (k < m->array_count && m->arrays[k].first < first + bytes)
    if (m->arrays[k].room == 0 && (m->arrays[k].first > first || m->arrays[k].bytes != bytes))
      drop(m, &m->arrays[k]);
    else
      k++;
}

/* The block of the program's malloc that an address is in. */
static struct array *block_around(struct machine *m, const char *address)
{
  for (size_t k = position(m, address); k > 0;) {
    struct array *array = &m->arrays[--k];
    if (array->room > 0)
      return address < array->first + array->room ? array : NULL;
  }
  return NULL;
}

void emulated_array(const char *name, const void *first, size_t bytes, size_t element)
{
  struct machine *m = machine();
  char *at = (char *)(uintptr_t)first;
  if (m->running)
    broken("spawn", NULL, NULL, "the array `%s` is named between spawn and join", name);
  if (element == 0)
    element = 4;
  if (at == NULL || bytes == 0 || of_slaves(at))
    return; /* known without it */
  if (element % 4 != 0)
    broken("misaligned", NULL, NULL, "elements of the array `%s` have %zu bytes, which is not a multiple of 4", name, element);
  if (in_arena(m, at)) {
    struct array *around = block_around(m, at);
    if (around != NULL && around->first != at && at + bytes > around->first + around->room)
      broken("outside-array", NULL, NULL, "the array `%s` of %zu bytes runs over the end of the %s", name, bytes, around->name);
    forget_overlapped(m, at, bytes);
  }
  struct array *array = exactly(m, at);
  if (array == NULL) {
    array = insert(m, at);
    array->bytes = bytes;
    if (!in_arena(m, at))
      remap(m, array);
  } else if (array->room > 0 && bytes > array->room) {
    broken("outside-array", NULL, NULL, "the array `%s` of %zu bytes is in a block of %zu", name, bytes, array->room);
  } else if (array->room == 0 && array->bytes != bytes) {
    drop(m, array);
    array = insert(m, at);
    array->bytes = bytes;
    if (!in_arena(m, at))
      remap(m, array);
  }
  if (array->element != element || array->bytes != bytes)
    drop_shadow(array);
  array->element = element;
  array->bytes = bytes;
  array->workspace = 0;
  snprintf(array->name, sizeof array->name, "%s", name);
}

void emulated_workspace(const void *first)
{
  struct array *array = first != NULL ? exactly(machine(), first) : NULL;
  if (array != NULL)
    array->workspace = 1;
}

void emulated_forget(const void *first)
{
  struct machine *m = machine();
  struct array *array = first != NULL ? exactly(m, first) : NULL;
  if (array != NULL && array->room == 0)
    drop(m, array);
}

/* The emulator's view of a place in main memory, and how far it goes. */
static char *reachable(char *memory, size_t *run)
{
  struct machine *m = machine();
  if (in_arena(m, memory)) {
    *run = (size_t)(m->arena + m->arena_room - memory);
    return memory - m->arena + m->arena_alias;
  }
  *run = SIZE_MAX;
  struct array *array = array_at(memory);
  if (array == NULL || array->alias == NULL)
    return memory;
  if (memory < array->pages) {
    *run = (size_t)(array->pages - memory);
    return memory;
  }
  if (memory < array->pages + array->page_bytes) {
    *run = (size_t)(array->pages + array->page_bytes - memory);
    return memory - array->pages + array->alias;
  }
  return memory;
}

void memory_read(const char *memory, char *buffer, size_t bytes)
{
  while (bytes > 0) {
    size_t run;
    const char *from = reachable((char *)(uintptr_t)memory, &run);
    size_t part = run < bytes ? run : bytes;
    memcpy(buffer, from, part);
    memory += part;
    buffer += part;
    bytes -= part;
  }
}

void memory_write(char *memory, const char *buffer, size_t bytes)
{
  while (bytes > 0) {
    size_t run;
    char *to = reachable(memory, &run);
    size_t part = run < bytes ? run : bytes;
    memcpy(to, buffer, part);
    memory += part;
    buffer += part;
    bytes -= part;
  }
}

void *argument_copy(void *argument)
{
  struct machine *m = machine();
  struct array *array = argument != NULL ? exactly(m, argument) : NULL;
  m->own_argument = NULL;
  if (array == NULL || m->arena == NULL || in_arena(m, argument))
    return argument;
  size_t bytes = array->bytes, element = array->element;
  char name[NAME];
  memcpy(name, array->name, sizeof name);
  char *copy = emulated_malloc(bytes);
  if (copy == NULL)
    return argument;
  memcpy(copy, argument, bytes);
  struct array *block = exactly(m, copy);
  memcpy(block->name, name, sizeof name);
  block->element = element;
  m->own_argument = argument;
  m->argument_block = copy;
  m->argument_bytes = bytes;
  return copy;
}

void argument_back(void)
{
  struct machine *m = machine();
  if (m->own_argument == NULL)
    return;
  memcpy(m->own_argument, m->argument_block, m->argument_bytes);
  emulated_free(m->argument_block);
  m->own_argument = NULL;
}
