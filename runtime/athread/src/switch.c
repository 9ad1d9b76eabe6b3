/* Handing the baton from one core to another, in one of two ways.
 *
 * Where the processor lets programs set the base of thread-local data (x86-64 with FSGSBASE), one thread of the system goes from core to core: registers, stack and
 * thread-local data change, and the system is not asked. Each core begins as a thread of its own, which gives it thread-local data, and is left aside there for good.
 * Elsewhere, under sanitizers, and with ATHREAD_MODE=threads, each core stays a thread of its own, woken by a semaphore.
 */
#include "emulator.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>

#if defined(__x86_64__) && !defined(__SANITIZE_THREAD__) && !defined(__SANITIZE_ADDRESS__)
#define OWN_SWITCH 1
#else
#define OWN_SWITCH 0
#endif

/* ---- one thread for all ---- */

#if OWN_SWITCH

enum { SET_BASE_ALLOWED = 2 }; /* of AT_HWCAP2 */

int switch_available(void)
{
  return (getauxval(AT_HWCAP2) & SET_BASE_ALLOWED) != 0;
}

/* Leaves what a function has to keep on the stack and the stack in `from`, and goes on where `to` was left. No thread-local data is touched in between, and no
 * stack protector may: it would read its word from there. */
void switch_context(struct context *from, const struct context *to);
/* The same, to a function that never returns, on another stack and with the thread-local data of now. */
void switch_aside(struct context *from, char *stack_end, void (*function)(void *), void *argument);

__asm__(".text\n"
        ".p2align 4\n"
        ".globl switch_context\n"
        ".hidden switch_context\n"
        ".type switch_context, @function\n"
        "switch_context:\n"
        "  pushq %rbp\n  pushq %rbx\n  pushq %r12\n  pushq %r13\n  pushq %r14\n  pushq %r15\n"
        "  subq $8, %rsp\n  stmxcsr (%rsp)\n  fnstcw 4(%rsp)\n"
        "  rdfsbase %rax\n  movq %rax, 8(%rdi)\n"
        "  movq %rsp, (%rdi)\n"
        "  movq (%rsi), %rsp\n"
        "  movq 8(%rsi), %rax\n  wrfsbase %rax\n"
        "  ldmxcsr (%rsp)\n  fldcw 4(%rsp)\n  addq $8, %rsp\n"
        "  popq %r15\n  popq %r14\n  popq %r13\n  popq %r12\n  popq %rbx\n  popq %rbp\n"
        "  ret\n"
        ".size switch_context, . - switch_context\n"
        ".p2align 4\n"
        ".globl switch_aside\n"
        ".hidden switch_aside\n"
        ".type switch_aside, @function\n"
        "switch_aside:\n"
        "  pushq %rbp\n  pushq %rbx\n  pushq %r12\n  pushq %r13\n  pushq %r14\n  pushq %r15\n"
        "  subq $8, %rsp\n  stmxcsr (%rsp)\n  fnstcw 4(%rsp)\n"
        "  rdfsbase %rax\n  movq %rax, 8(%rdi)\n"
        "  movq %rsp, (%rdi)\n"
        "  movq %rsi, %rsp\n  andq $-16, %rsp\n  xorl %ebp, %ebp\n"
        "  movq %rcx, %rdi\n"
        "  call *%rdx\n"
        "  ud2\n"
        ".size switch_aside, . - switch_aside\n");

/* What a core's own thread does for good: nothing, and without thread-local data, which is the core's. */
__attribute__((noreturn, optimize("no-stack-protector"))) static void idle(void *given)
{
  struct core *core = given;
  __atomic_store_n(&core->aside, 1, __ATOMIC_RELEASE);
  for (;;) {
    long result = SYS_pause;
    __asm__ volatile("syscall" : "+a"(result) : : "rcx", "r11", "memory");
  }
}

#else

int switch_available(void)
{
  return 0;
}

static void switch_context(struct context *from, const struct context *to)
{
  (void)from;
  (void)to;
}

static void switch_aside(struct context *from, char *stack_end, void (*function)(void *), void *argument)
{
  (void)from;
  (void)stack_end;
  function(argument);
}

static void idle(void *given)
{
  (void)given;
}

#endif

/* ---- a thread each ---- */

static void take(sem_t *baton)
{
  while (sem_wait(baton) != 0)
    ;
}

enum { ROUND = 1 << 14, LOOK = 1 << 6 };

/* One core runs at a time, and on one processor the baton is handed over in a third of the time that it takes between two. So all cores are held on one, but now
 * and then let go for a moment: by then another may be less busy. Nothing but the time of the emulation depends on it. */
static void keep_together(struct machine *m)
{
  uint64_t place = m->handed_over++ % ROUND;
  if ((place != 0 && place != LOOK) || CPU_COUNT(&m->processors) < 2)
    return;
  cpu_set_t here = m->processors;
  int processor = sched_getcpu();
  if (place == LOOK && processor >= 0 && processor < CPU_SETSIZE) {
    CPU_ZERO(&here);
    CPU_SET(processor, &here);
  }
  for (int i = 0; i < CORES; i++)
    pthread_setaffinity_np(m->cores[i].thread, sizeof here, &here);
}

/* ---- both ---- */

void switch_begin(struct core *core)
{
  struct machine *m = machine();
  if (m->mode != BATON) {
    stack_t signals = {.ss_sp = core->signal_stack, .ss_size = SIGNAL_STACK};
    sigaltstack(&signals, NULL);
    take(&core->baton);
    return;
  }
  /* A handler of the program would run here with a core's thread-local data. */
  sigset_t all;
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, NULL);
  switch_aside(&core->context, (char *)core->signal_stack + SIGNAL_STACK, idle, core);
}

void switch_wait_for_threads(struct machine *m)
{
  if (m->mode != BATON)
    return;
  m->signal_stack = mmap(NULL, SIGNAL_STACK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (m->signal_stack == MAP_FAILED)
    broken("threads", NULL, NULL, "no memory for the cores");
  for (int i = 0; i < CORES; i++)
    while (!__atomic_load_n(&m->cores[i].aside, __ATOMIC_ACQUIRE))
      sched_yield();
}

void switch_to(struct machine *m, struct core *from, struct core *to)
{
  if (m->mode == BATON) {
    switch_context(from != NULL ? &from->context : &m->host_context, to != NULL ? &to->context : &m->host_context);
    return;
  }
  if (m->mode == THREADS && to != NULL)
    keep_together(m);
  sem_post(to != NULL ? &to->baton : &m->host);
  if (from != NULL)
    take(&from->baton);
}

void switch_done(struct machine *m, struct core *core, int last)
{
  if (last)
    sem_post(&m->host);
  take(&core->baton);
}

/* ---- the host, from join to the end of the kernel ---- */

static void wait_within_limit(struct machine *m, sem_t *wanted, void (*late)(struct machine *))
{
  if (m->limit == 0) {
    take(wanted);
    return;
  }
  struct timespec end;
  clock_gettime(CLOCK_REALTIME, &end);
  end.tv_sec += m->limit;
  while (sem_timedwait(wanted, &end) != 0)
    if (errno == ETIMEDOUT)
      late(m);
}

/* The host does not come to the join: nothing that it waits for can happen before. */
static void no_join(struct machine *m)
{
  broken("never-ends", NULL, NULL,
         "the host has not come to athread_join %ld seconds after athread_spawn (ATHREAD_LIMIT): cores run during the join here, so that what they set cannot be waited for before it",
         m->limit);
}

/* Another thread looks at the clock: from the spawn to the join, and then, where the host's own thread runs the cores, to the end of the kernel. */
static void *watch(void *given)
{
  struct machine *m = given;
  sigset_t all;
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, NULL);
  for (;;) {
    take(&m->watched);
    wait_within_limit(m, &m->came, no_join);
    if (m->mode == BATON)
      wait_within_limit(m, &m->host, too_long);
  }
  return NULL;
}

void switch_spawned(struct machine *m)
{
  if (m->limit == 0 || m->mode == FREE)
    return;
  if (!m->watching && pthread_create(&m->watcher, NULL, watch, m) != 0)
    broken("threads", NULL, NULL, "the system gives no thread that looks at the clock");
  m->watching = 1;
  sem_post(&m->watched);
}

void switch_run(struct machine *m, struct core *first)
{
  if (m->limit > 0 && m->mode != FREE)
    sem_post(&m->came);
  if (m->mode != BATON) {
    if (first != NULL)
      switch_to(m, NULL, first);
    wait_within_limit(m, &m->host, too_long);
    return;
  }
  stack_t before, signals = {.ss_sp = m->signal_stack, .ss_size = SIGNAL_STACK};
  sigaltstack(&signals, &before);
  switch_to(m, NULL, first);
  sigaltstack(&before, NULL);
  if (m->limit > 0)
    sem_post(&m->host);
}
