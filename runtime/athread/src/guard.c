/* Direct access to main memory: while cores run, the program's view of it is closed. An access faults, is counted, and either stops the
 * program or goes on: its page is opened for this one instruction.
 *
 * The one instruction needs a processor with a trap flag (x86-64). Elsewhere an access that would have to go on stops the program.
 */
#include "emulator.h"

#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#include "../include/athread.h"

/* A core reaches main memory without a transfer in 177 to 278 cycles. */
static const double direct_cycles = 228;

/* `bytes` of memory seen at two places: at `at` (with what is there now) or anywhere, and at *alias. Null if the system can't. */
char *twice_mapped(size_t bytes, char *at, char **alias)
{
  int file = memfd_create("athread", MFD_CLOEXEC);
  if (file < 0)
    return NULL;
  char *second = MAP_FAILED, *first = MAP_FAILED;
  if (ftruncate(file, (off_t)bytes) == 0)
    second = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, file, 0);
  if (second != MAP_FAILED) {
    if (at != NULL)
      memcpy(second, at, bytes);
    first = mmap(at, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE | (at != NULL ? MAP_FIXED : 0), file, 0);
    if (first == MAP_FAILED)
      munmap(second, bytes);
  }
  close(file);
  *alias = second;
  return first == MAP_FAILED ? NULL : first;
}

void protect(int on)
{
  struct machine *m = machine();
  int access = on ? PROT_NONE : PROT_READ | PROT_WRITE;
  m->guarded = on && m->arena != NULL;
  if (m->arena == NULL)
    return;
  mprotect(m->arena, (m->arena_used + 4095) / 4096 * 4096, access);
  for (size_t k = 0; k < m->array_count; k++)
    if (m->arrays[k].pages != NULL)
      mprotect(m->arrays[k].pages, m->arrays[k].page_bytes, access);
}

static int closed(const struct machine *m, const char *at)
{
  if (!m->guarded)
    return 0;
  if (at >= m->arena && at < m->arena + m->arena_used + 4096)
    return 1;
  for (size_t k = 0; k < m->array_count; k++)
    if (m->arrays[k].pages != NULL && at >= m->arrays[k].pages && at < m->arrays[k].pages + m->arrays[k].page_bytes)
      return 1;
  return 0;
}

#if defined(__x86_64__)
enum { TRAP_FLAG = 0x100 };
static int is_write(const ucontext_t *context)
{
  return (context->uc_mcontext.gregs[REG_ERR] & 2) != 0;
}
static int step(ucontext_t *context, int on)
{
  if (on)
    context->uc_mcontext.gregs[REG_EFL] |= TRAP_FLAG;
  else
    context->uc_mcontext.gregs[REG_EFL] &= ~(greg_t)TRAP_FLAG;
  return 1;
}
#else
static int is_write(const ucontext_t *context)
{
  (void)context;
  return 0;
}
static int step(ucontext_t *context, int on)
{
  (void)context;
  (void)on;
  return 0;
}
#endif

static void on_fault(int signal, siginfo_t *info, void *given)
{
  (void)signal;
  struct machine *m = machine();
  struct core *core = this_core();
  ucontext_t *context = given;
  char *at = info->si_addr, where[96];
  int write = is_write(context);
  const char *verb = write ? "writes" : "reads";
  if (!closed(m, at)) {
    if (core == NULL)
      broken("crash", NULL, NULL, "the program %s %p, where there is no memory", verb, (void *)at);
    ldm_check_null(core, NULL, at);
    if (at >= core->stack - (1 << 20) && at < core->stack)
      broken("ldm-overflow", core, NULL, "the stack runs over local memory of %zu bytes", m->capacity);
    if (at >= core->heap_end && at < core->stack)
      broken("crash", core, NULL, "the kernel %s %p, beyond the end of what ldm_malloc has", verb, (void *)at);
    broken("crash", core, NULL, "the kernel %s %p, where there is no memory", verb, (void *)at);
  }
  struct array *array = array_at(at);
  if (core != NULL) {
    core->direct_accesses++;
    m->report.direct++;
    if (array == NULL)
      broken("outside-array", core, NULL, "the kernel %s %p, which is in no array", verb, (void *)at);
    if (!m->direct_allowed)
      broken("direct-access", core, NULL, "the kernel %s main memory at %s without a transfer (ATHREAD_DIRECT=count allows it)", verb,
             place(core, at, where));
    compute(core, direct_cycles);
  }
  if (array != NULL) {
    size_t offset = (size_t)(at - array->first) / array->element * array->element;
    if (core != NULL)
      race_access(array, array->first + offset, 1, core->id, core->clocks[core->id], core->clocks, write, core, NULL);
    else
      race_access(array, array->first + offset, 1, HOST, m->host_clock, m->host_knows, write, NULL, NULL);
  }
  if (m->stepping_count == (int)(sizeof m->stepping / sizeof m->stepping[0]) || !step(context, 1))
    broken(core != NULL ? "direct-access" : "host-access", core, NULL, "%s %s main memory at %s while cores run",
           core != NULL ? "the kernel" : "the program", verb, place(core, at, where));
  char *page = at - (uintptr_t)at % 4096;
  m->stepping[m->stepping_count++] = page;
  mprotect(page, 4096, PROT_READ | PROT_WRITE);
}

static void on_step(int signal, siginfo_t *info, void *given)
{
  (void)signal;
  (void)info;
  struct machine *m = machine();
  while (m->stepping_count > 0)
    mprotect(m->stepping[--m->stepping_count], 4096, m->guarded ? PROT_NONE : PROT_READ | PROT_WRITE);
  step(given, 0);
}

void guard_init(void)
{
  struct sigaction action;
  memset(&action, 0, sizeof action);
  action.sa_flags = SA_SIGINFO | SA_ONSTACK;
  sigemptyset(&action.sa_mask);
  action.sa_sigaction = on_fault;
  sigaction(SIGSEGV, &action, NULL);
  sigaction(SIGBUS, &action, NULL);
  action.sa_sigaction = on_step;
  sigaction(SIGTRAP, &action, NULL);
}
