/* The cores: one runs at a time, in an order that a seed gives; or all run freely. And how kernels begin and end. */
#include "emulator.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "../include/athread.h"
#include "../include/slave.h"

struct root emulated_root __attribute__((aligned(4096)));
__thread struct core *emulated_self;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static long setting(const char *name, long otherwise, long least, long most)
{
  const char *text = getenv(name);
  if (text == NULL || *text == '\0')
    return otherwise;
  char *end;
  errno = 0;
  long value = strtol(text, &end, 10);
  if (errno != 0 || *end != '\0' || value < least || value > most) {
    fprintf(stderr, "athread: %s=%s is not a number from %ld to %ld\n", name, text, least, most);
    _exit(EXIT_BROKEN_RULE);
  }
  return value;
}

/* Which of the words a setting is; the first where there is none. */
static int choice(const char *name, int count, const char *const *words)
{
  const char *text = getenv(name);
  if (text == NULL || *text == '\0')
    return 0;
  for (int k = 0; k < count; k++)
    if (strcmp(text, words[k]) == 0)
      return k;
  fprintf(stderr, "athread: %s=%s is not", name, text);
  for (int k = 0; k < count; k++)
    fprintf(stderr, "%s %s", k == 0 ? "" : k + 1 < count ? "," : " or", words[k]);
  fprintf(stderr, "\n");
  _exit(EXIT_BROKEN_RULE);
}

#define CHOICE(name, ...) choice(name, (int)(sizeof (const char *[]){__VA_ARGS__} / sizeof(char *)), (const char *[]){__VA_ARGS__})

static void at_exit(void)
{
  struct machine *m = machine();
  if (m->running)
    broken("spawn", NULL, NULL, "the program ends after athread_spawn and before athread_join");
  report_write(m);
}

static void make(void)
{
  struct machine *m = mmap(NULL, sizeof *m, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (m == MAP_FAILED) {
    fprintf(stderr, "athread: no memory for the emulator\n");
    _exit(EXIT_BROKEN_RULE);
  }
  emulated_root.machine = m;
  pthread_mutexattr_t attributes;
  pthread_mutexattr_init(&attributes);
  pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_RECURSIVE);
  pthread_mutex_init(&m->lock, &attributes);
  pthread_cond_init(&m->changed, NULL);
  sem_init(&m->host, 0, 0);
  sem_init(&m->watched, 0, 0);
  sem_init(&m->came, 0, 0);
  /* In the order of `enum mode`. */
  m->mode = (enum mode)CHOICE("ATHREAD_MODE", "baton", "threads", "free");
  if (m->mode == BATON && !switch_available())
    m->mode = THREADS;
  m->free_running = m->mode == FREE;
  m->direct_allowed = CHOICE("ATHREAD_DIRECT", "forbid", "count");
  m->pro = CHOICE("ATHREAD_CHIP", "sw26010", "sw26010pro");
  m->capacity = (size_t)setting("ATHREAD_LDM", m->pro ? 256 << 10 : 64 << 10, 1 << 10, 1 << 20);
  m->seed = (uint64_t)setting("ATHREAD_SEED", 1, 0, LONG_MAX);
  m->random = m->seed * UINT64_C(0x9e3779b97f4a7c15) + 1;
  m->limit = setting("ATHREAD_LIMIT", 3600, 0, 1000000000);
  m->threads = CORES;
  m->host_clock = 1;
  if (sched_getaffinity(0, sizeof m->processors, &m->processors) != 0)
    CPU_ZERO(&m->processors);
  for (int i = 0; i < CORES; i++) {
    m->cores[i].id = i;
    sem_init(&m->cores[i].baton, 0, 0);
  }
  memory_init(m);
  atexit(at_exit);
}

void make_machine(void)
{
  pthread_once(&once, make);
}

/* ---- passing the baton ---- */

static uint32_t draw(struct machine *m, uint32_t below)
{
  m->random ^= m->random << 13;
  m->random ^= m->random >> 7;
  m->random ^= m->random << 17;
  return (uint32_t)((m->random >> 11) % below);
}

void set_state(struct core *core, enum state state)
{
  struct machine *m = machine();
  uint64_t own = UINT64_C(1) << core->id;
  core->state = state;
  m->ready = state == READY ? m->ready | own : m->ready & ~own;
  m->polled &= ~own;
}

void wake(struct core *core)
{
  if (core->state == WAITING)
    set_state(core, READY);
}

static void describe_wait(const struct core *core, char *text, size_t room)
{
  char where[96];
  if (core->wait_reply != NULL)
    snprintf(text, room, "core %d waits until its reply word %s is %d; it is %d and no transfer in flight changes it", core->id,
             place(core, (const void *)core->wait_reply, where), core->wait_value, *core->wait_reply);
  else if (core->wait_group >= 0)
    snprintf(text, room, "core %d waits in a barrier of %s", core->id,
             core->wait_group == 16 ? "the array" : core->wait_group < 8 ? "its row" : "its column");
  else if (core->wait_target >= 0)
    snprintf(text, room, "core %d waits for room to send to core %d", core->id, core->wait_target);
  else if (core->wait_target == -1)
    snprintf(text, room, "core %d waits for a word along its %s", core->id, core->wait_direction ? "row" : "column");
  else
    snprintf(text, room, "core %d waits in an empty loop", core->id);
}

static void deadlock(struct machine *m)
{
  char text[600] = "";
  const struct core *first = NULL;
  int waiting = 0;
  for (int i = 0; i < m->threads; i++) {
    const struct core *core = &m->cores[i];
    if (core->state != WAITING)
      continue;
    if (first == NULL)
      first = core;
    if (waiting++ < 3) {
      char one[180];
      describe_wait(core, one, sizeof one);
      snprintf(text + strlen(text), sizeof text - strlen(text), "%s%s", waiting > 1 ? "; " : "", one);
    }
  }
  broken("never-ends", first, NULL, "no core can go on: %s%s", text, waiting > 3 ? "; and more" : "");
}

/* The core that goes on: one of those that can; null, for the host, when all have finished. */
static struct core *choose(struct machine *m)
{
  uint64_t can = m->ready;
  for (uint64_t asked = m->polled; asked != 0; asked &= asked - 1) {
    struct core *core = &m->cores[__builtin_ctzll(asked)];
    if (core->ready(core))
      can |= asked & -asked;
  }
  if (can == 0) {
    for (int i = 0; i < m->threads; i++)
      if (m->cores[i].state != FINISHED)
        deadlock(m);
    return NULL;
  }
  for (uint32_t skip = draw(m, (uint32_t)__builtin_popcountll(can)); skip > 0; skip--)
    can &= can - 1;
  struct core *next = &m->cores[__builtin_ctzll(can)];
  set_state(next, READY);
  m->turn = next->id;
  return next;
}

/* Lets a core go on, and returns when it is this one's turn again. */
static void hand_over(struct machine *m, struct core *core)
{
  struct core *next = choose(m);
  if (next != core)
    switch_to(m, core, next);
}

/* The kernel runs longer than it may: which core computes, and what others wait for. The cores still run, so what is told of them is as of about now. */
void too_long(struct machine *m)
{
  char text[900] = "";
  const struct core *first = NULL;
  int computing = 0, waiting = 0, finished = 0, idle = 0;
  for (int i = 0; i < m->threads; i++) {
    const struct core *core = &m->cores[i];
    char one[180] = "";
    if (core->state == FINISHED)
      finished++;
    else if (core->state == WAITING && !core->ready(&m->cores[i])) {
      if (waiting++ < 3)
        describe_wait(core, one, sizeof one);
    } else if (!m->free_running && i != m->turn)
      idle++;
    else if (computing++ < 3) {
      if (first == NULL)
        first = core;
      snprintf(one, sizeof one, "core %d computes since its transfer %u%s", i, core->transfers,
               core->pending != NULL ? ", and has transfers in flight: a loop that waits for a reply in a form that is not found (dma_wait is)?" : "");
    }
    if (*one != '\0')
      snprintf(text + strlen(text), sizeof text - strlen(text), "; %s", one);
  }
  broken("never-ends", first, NULL, "the kernel runs for more than %ld seconds (ATHREAD_LIMIT)%s; %d compute, %d wait, %d could go on, %d have ended",
         m->limit, text, computing, waiting, idle, finished);
}

void wait_until(struct core *core, int (*ready)(struct core *), int woken)
{
  struct machine *m = machine();
  core->ready = ready;
  set_state(core, WAITING);
  if (!woken)
    m->polled |= UINT64_C(1) << core->id;
  if (!m->free_running) {
    hand_over(m, core);
  } else {
    while (!ready(core)) {
      int stuck = 1;
      for (int i = 0; i < m->threads && stuck; i++)
        stuck = m->cores[i].state == FINISHED || (m->cores[i].state == WAITING && !m->cores[i].ready(&m->cores[i]));
      if (stuck)
        deadlock(m);
      pthread_cond_wait(&m->changed, &m->lock);
    }
  }
  set_state(core, READY);
  core->wait_reply = NULL;
  core->wait_group = core->wait_target = -2;
}

void maybe_switch(struct core *core)
{
  struct machine *m = machine();
  if (!m->free_running && draw(m, 4) == 0)
    hand_over(m, core);
}

struct core *enter(const char *what, void *frame)
{
  struct core *core = this_core();
  if (core == NULL)
    broken("wrong-side", NULL, NULL, "%s is for computing cores, and the management core calls it", what);
  if (machine()->free_running)
    pthread_mutex_lock(&machine()->lock);
  ldm_entered(core, frame);
  uncount_replies(core);
  return core;
}

/* Leaves no trace on the stack: see ldm.c. */
__attribute__((noinline)) void leave(struct core *core)
{
  count_replies(core);
  if (machine()->free_running) {
    pthread_cond_broadcast(&machine()->changed);
    pthread_mutex_unlock(&machine()->lock);
  }
  ldm_repaint(core);
}

/* ---- threads ---- */

/* The stack of a kernel begins with this small frame. */
__attribute__((noinline)) static void run_kernel(struct machine *m, struct core *core)
{
  if (m->free_running)
    pthread_mutex_lock(&m->lock);
  ldm_before_kernel(core, __builtin_frame_address(0));
  if (m->free_running)
    pthread_mutex_unlock(&m->lock);
  m->kernel(m->argument);
}

static void *life(void *given)
{
  struct core *core = given;
  struct machine *m = machine();
  emulated_self = core;
  if (m->free_running)
    pthread_mutex_lock(&m->lock);
  ldm_thread_begins(core);
  if (m->free_running)
    pthread_mutex_unlock(&m->lock);
  switch_begin(core);
  for (;;) {
    run_kernel(m, core);
    if (m->free_running)
      pthread_mutex_lock(&m->lock);
    ldm_after_kernel(core);
    if (core->pending != NULL)
      broken("in-flight-at-return", core, core->pending, "the kernel returns and nothing has waited for this transfer");
    if (emulated_vector_operations > 0) {
      if (core->stated_cycles < (double)emulated_vector_operations)
        broken("cycles", core, NULL, "%lu vector operations were executed and %.0f cycles are stated for them",
               emulated_vector_operations, core->stated_cycles);
      emulated_vector_operations = 0;
    }
    record(core, END, 0, 0, 0);
    set_state(core, FINISHED);
    if (m->free_running) {
      int last = --m->alive == 0;
      pthread_cond_broadcast(&m->changed);
      pthread_mutex_unlock(&m->lock);
      switch_done(m, core, last);
    } else {
      hand_over(m, core);
    }
  }
  return NULL;
}

static void start_threads(struct machine *m)
{
  if (m->started)
    return;
  m->started = 1;
  memory_of_slaves(m);
  for (int i = 0; i < CORES; i++) {
    struct core *core = &m->cores[i];
    ldm_init(core);
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setstack(&attributes, core->stack, (size_t)(core->stack_end - core->stack));
    if (pthread_create(&core->thread, &attributes, life, core) != 0)
      broken("threads", NULL, NULL, "the system gives no thread for core %d", i);
    pthread_attr_destroy(&attributes);
  }
  switch_wait_for_threads(m);
}

int athread_init(void)
{
  start_threads(machine());
  machine()->halted = 0;
  return 0;
}

int athread_halt(void)
{
  if (machine()->running)
    broken("spawn", NULL, NULL, "athread_halt comes after athread_spawn and before athread_join");
  machine()->halted = 1;
  return 0;
}

int athread_set_num_threads(int n)
{
  struct machine *m = machine();
  if (n < 1 || n > CORES)
    broken("threads", NULL, NULL, "%d threads are asked for, and a core group has 1 to %d", n, CORES);
  if (m->running)
    broken("threads", NULL, NULL, "the number of threads is set between spawn and join");
  m->threads = n;
  return 0;
}

int athread_get_num_threads(void)
{
  return machine()->threads;
}

int athread_get_max_threads(void)
{
  return CORES;
}

int __real_athread_spawn(void *function, void *argument)
{
  struct machine *m = machine();
  if (this_core() != NULL)
    broken("wrong-side", this_core(), NULL, "athread_spawn is for the management core");
  if (!m->started)
    broken("spawn", NULL, NULL, "athread_spawn comes before athread_init");
  if (m->halted)
    broken("spawn", NULL, NULL, "athread_spawn comes after athread_halt");
  if (m->running)
    broken("spawn", NULL, NULL, "a second athread_spawn comes before athread_join");
  m->kernel = (void (*)(void *))function;
  m->argument = argument_copy(argument);
  m->running = 1;
  m->alive = m->threads;
  m->report.spawns++;
  /* What the host did is before all that the cores do. */
  uint32_t newest = m->host_clock;
  for (int i = 0; i < m->threads; i++) {
    struct core *core = &m->cores[i];
    set_state(core, READY);
    core->transfers = core->issues = 0;
    core->counted = 0;
    core->heap_kept = core->heap_used;
    core->refused = 0;
    core->wait_reply = NULL;
    core->wait_group = core->wait_target = -2;
    core->stated_cycles = core->stated_operations = 0;
    core->last_received[0] = core->last_received[1] = UINT32_MAX;
    core->fifo_passed[0] = core->fifo_passed[1] = 0;
    core->fifo_room[0] = core->fifo_room[1] = FIFO;
    core->access_count = core->access_next = 0;
    core->trace.count = 0;
    core->trace.cycles = 0;
    uint32_t own = core->clocks[i] + 1;
    memcpy(core->clocks, m->host_knows, sizeof core->clocks);
    core->clocks[i] = own;
    core->clocks[HOST] = newest;
  }
  memset(m->barriers, 0, sizeof m->barriers);
  memset(m->members, 0, sizeof m->members);
  for (int i = 0; i < m->threads; i++) {
    m->members[i / 8]++;
    m->members[8 + i % 8]++;
    m->members[GROUPS - 1]++;
  }
  m->host_clock++;
  protect(1);
  switch_spawned(m);
  if (m->free_running)
    for (int i = 0; i < m->threads; i++)
      sem_post(&m->cores[i].baton);
  return 0;
}

int athread_join(void)
{
  struct machine *m = machine();
  if (!m->running)
    broken("spawn", NULL, NULL, "athread_join comes without athread_spawn");
  switch_run(m, m->free_running ? NULL : choose(m));
  protect(0);
  m->running = 0;
  for (int i = 0; i < m->threads; i++) {
    const struct core *core = &m->cores[i];
    if (core->fifo_count[0] + core->fifo_count[1] > 0)
      broken("in-flight-at-return", core, NULL, "all kernels have returned, and this core has not received %d of the words sent to it",
             core->fifo_count[0] + core->fifo_count[1]);
    m->host_knows[i] = core->clocks[i];
    set_state(&m->cores[i], IDLE);
    m->report.operations += m->cores[i].stated_operations;
  }
  m->host_knows[HOST] = m->host_clock;
  argument_back();
  for (int i = 0; i < m->threads; i++)
    while (m->cores[i].lots != NULL) {
      struct lot *before = m->cores[i].lots->before;
      free(m->cores[i].lots);
      m->cores[i].lots = before;
    }
  replay(m);
  return 0;
}

int athread_get_id(int core)
{
  if (this_core() == NULL)
    broken("wrong-side", NULL, NULL, "athread_get_id is for computing cores");
  if (core < -1 || core >= CORES)
    broken("target", this_core(), NULL, "athread_get_id of core %d: a core group has cores 0 to %d", core, CORES - 1);
  return core == -1 ? this_core()->id : core;
}

__thread unsigned long emulated_vector_operations;

/* Called for every tile or row, so without the care for the stack that other calls take. */
void emulated_compute(double cycles, double operations)
{
  struct core *core = this_core();
  if (core == NULL)
    broken("wrong-side", NULL, NULL, "emulated_compute is for computing cores");
  if (!(cycles >= 0) || !(operations >= 0))
    broken("cycles", core, NULL, "%g cycles and %g operations are stated", cycles, operations);
  compute(core, cycles);
  core->stated_operations += operations;
}
