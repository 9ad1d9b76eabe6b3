/* What the parts of the emulator share. See README.md for what it does.
 *
 * All state is in one `machine`, in memory of its own: pages that programs use may be protected while cores run.
 */
#ifndef EMULATOR_H
#define EMULATOR_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdint.h>
#include <stdio.h>

enum {
  CORES = 64,
  HOST = CORES, /* the management core, where clocks of all are kept */
  GROUPS = 17,  /* of cores that meet in a barrier: rows, columns, the array */
  EXIT_BROKEN_RULE = 70,
  FIFO = 4, /* 256-bit words that wait for a core in each direction */
  /* After so many words a receiver may have more of them waiting, and cores change less often: what blocks for ever has mostly done so by then. Of the later
   * stretches the seed chooses one in so many in which they are few again. */
  FIFO_TRIED = 4096,
  FIFO_STRETCH = 256,
  FIFO_AGAIN = 32,
  FIFO_MOST = 256,
  LOT = 64, /* words that are sent with nothing between them, as one event of the time model */
  NAME = 48,
  SIGNAL_STACK = 64 << 10,
};

/* How cores take turns: in one thread, in a thread each, or not at all. */
enum mode { BATON, THREADS, FREE };

/* What uninitialised local memory and the destination of a transfer in flight hold: a NaN for float and for double. */
#define POISON UINT64_C(0x7ff8dead7ff8dead)

/* ---- main memory ---- */

/* A stretch of main memory that cores may reach. */
struct array {
  char *first;         /* as the program sees it */
  size_t bytes;
  size_t room;         /* of the heap block that begins here, or 0 */
  size_t element;      /* unit of race detection */
  int workspace;       /* not counted as touched */
  char name[NAME];
  uint32_t *shadow;    /* three words an element, or null before the first access: last writer, two readers */
  size_t shadow_bytes;
  char *pages, *alias; /* whole pages that the emulator has moved to where it sees them twice, and where it sees them */
  size_t page_bytes;
};

/* ---- a transfer ---- */

enum kind { GET, PUT, RMA_PUT, RMA_GET };

struct transfer {
  enum kind kind;
  unsigned number; /* counted by its core, from 1 */
  unsigned event;  /* in the trace of its core */
  char *memory;    /* main memory, as the program sees it; for RMA local memory of `peer` */
  char *local;
  int len, bsize, stride;
  struct array *array;
  int peer;
  uint64_t targets;        /* cores whose local memory it reaches, at the same place as in this one */
  volatile int *reply;     /* null: none */
  int reply_at_issue;
  volatile int *remote_reply; /* RMA: where it counts up in the targets, as an address here */
  uint32_t clock;          /* of this core at issue, for races */
  char *snapshot;          /* the source of a put or a remote get */
  struct transfer *next;
};

/* ---- the trace that the time model replays ---- */

enum event_kind { ISSUE, DELIVER, BARRIER, SEND, RECEIVE, END };

struct event {
  double cycles;   /* of computing since the event before */
  double work;     /* ISSUE: seconds that the whole memory takes for it; negative: not memory's */
  double latency;  /* ISSUE, SEND: seconds from its end to its arrival */
  uint32_t kind;
  uint32_t what;   /* DELIVER: number of the issue; BARRIER: group; SEND, RECEIVE: message */
};

struct trace {
  struct event *events;
  size_t count, room;
  double cycles; /* not yet in an event */
};

/* ---- a core ---- */

/* Where a core has been left: its stack, with the registers that a function keeps on it, and the base of its thread-local data. */
struct context {
  void *stack, *base;
};

enum state { IDLE, READY, WAITING, FINISHED };

/* Words of one core that follow each other. */
struct lot {
  struct lot *before; /* of this core; freed after the join */
  uint32_t number;    /* of the message in the time model */
  int words;
  uint32_t clocks[CORES + 1];
};

struct word {
  char bytes[32];
  const struct lot *lot;
};

/* A remote transfer that has counted up a reply word of this core, which has not waited for it yet. */
struct arrival {
  volatile int *reply;
  uint32_t message;
  uint32_t clocks[CORES + 1];
};

/* A transfer's access to local memory: whose, and that core's clock. */
struct access {
  char *first;
  size_t bytes;
  int who, write;
  uint32_t clock;
};
enum { ACCESSES = 64 };

struct core {
  int id;
  pthread_t thread;
  sem_t baton;            /* THREADS, FREE */
  struct context context; /* BATON */
  int aside;              /* BATON: its own thread has left it there */
  enum state state; /* only set by set_state */
  /* While WAITING: goes on when this holds, or (null) when another core wakes it; and what it waits for, in words. */
  int (*ready)(struct core *);
  volatile int *wait_reply;
  int wait_value;
  int wait_direction, wait_target, wait_group;
  unsigned wait_generation;

  /* local memory */
  char *heap, *heap_end;       /* of ldm_malloc */
  char *stack, *stack_end;     /* with thread-local data near its end */
  char *thread_local_data;
  char *base;                  /* stack pointer where the kernel begins */
  char *lowest;                /* stack touched down to here */
  size_t heap_used, heap_peak;
  struct piece { char *first; size_t bytes, wanted; } pieces[256];
  int piece_count;
  size_t heap_kept;            /* taken by kernels before this one */
  size_t refused, refused_left; /* of ldm_malloc the last time that it gave nothing: what was wanted, and what there was */

  struct transfer *pending;    /* in the order of issue */
  int counted;                 /* their replies, by count_replies */
  unsigned transfers, issues;
  struct arrival *arrivals;
  int arrival_count, arrival_room;
  uint32_t collective; /* the message of a collective broadcast, counted from 1 */
  int collective_root, collective_len;
  struct access accesses[ACCESSES]; /* to this core's local memory by transfers, the last ones */
  int access_count, access_next;

  /* races: this core's clock and what it knows of others */
  uint32_t clocks[CORES + 1];
  /* register communication, [0] along the column, [1] along the row */
  struct word fifo[2][FIFO_MOST];
  int fifo_first[2], fifo_count[2];
  unsigned fifo_passed[2];
  int fifo_room[2];
  struct lot *lots;          /* that it has sent, the last first */
  int lot_open;
  uint32_t last_received[2]; /* number of the lot */

  struct trace trace;
  double stated_cycles, stated_operations;
  unsigned long direct_accesses;
  void *signal_stack;
};

struct barrier {
  int arrived;
  unsigned generation;
  uint32_t clocks[CORES + 1];
};

enum { BUCKETS = 25 };

struct report {
  double seconds, compute, stall_transfer, stall_sync;
  double operations;
  uint64_t bytes_get, bytes_put, bytes_remote, commands, blocks, unaligned;
  uint64_t bucket_blocks[BUCKETS], bucket_bytes[BUCKETS];
  uint64_t unique_read, unique_written;
  uint64_t barriers, messages, direct, spawns;
  size_t ldm_peak, ldm_static, stack_peak, heap_peak;
};

struct machine {
  pthread_mutex_t lock; /* of everything here, in free-running mode; recursive */
  pthread_cond_t changed;
  enum mode mode;
  int free_running, direct_allowed, pro;
  uint64_t random, seed;
  size_t capacity;
  int threads, started, halted, running, alive, guarded;
  uint64_t ready, polled; /* cores that are READY, and those that wait and have to be asked */
  int members[GROUPS];    /* how many cores of each barrier take part */
  sem_t host;      /* the kernel has ended */
  sem_t watched;   /* cores were spawned */
  sem_t came;      /* the host has come to the join */
  pthread_t watcher;
  int watching;
  struct context host_context;
  char *signal_stack;
  cpu_set_t processors; /* those that this program may run on */
  uint64_t handed_over;
  int turn;        /* the core that has the baton */
  long limit;      /* seconds from join to the end of the kernel; 0 for no limit */
  void (*kernel)(void *);
  void *argument;
  unsigned job;
  struct core cores[CORES];
  uint32_t host_clock, host_knows[CORES + 1];
  struct barrier barriers[GROUPS];
  struct array *arrays;
  size_t array_count, array_room;
  size_t last_array;
  uint32_t messages;
  size_t static_bytes; /* thread-local data of the program */
  struct report report;
  char *arena, *arena_alias; /* main memory from malloc, twice */
  size_t arena_room, arena_used;
  struct { size_t at, bytes; } *holes; /* of the arena, from free */
  size_t hole_count, hole_room;
  char *stepping[8];         /* pages that a direct access has opened */
  int stepping_count;
  void *own_argument;        /* where the host keeps what kernels get as their argument, and its copy for them */
  char *argument_block;
  size_t argument_bytes;
};

/* The machine; on a page of its own, which never gets protected. */
struct root {
  struct machine *machine;
  char rest[4096 - sizeof(struct machine *)];
};
extern struct root emulated_root __attribute__((visibility("hidden")));
extern __thread struct core *emulated_self __attribute__((visibility("hidden")));
void make_machine(void);

/* The machine, made at first use. */
static inline struct machine *machine(void)
{
  if (__builtin_expect(emulated_root.machine == NULL, 0))
    make_machine();
  return emulated_root.machine;
}

/* The core that runs this thread; null on the management core. */
static inline struct core *this_core(void)
{
  return emulated_self;
}

/* Entry to and exit from the emulator on a core: takes the lock, looks after the stack. */
struct core *enter(const char *what, void *frame);
void leave(struct core *core);
void set_state(struct core *core, enum state state);
/* Blocks until `core->ready` holds; other cores go on. With one core at a time, `woken` says that the core that makes it hold calls `wake`. */
void wait_until(struct core *core, int (*ready)(struct core *), int woken);
void wake(struct core *core);
/* Lets another core go on, if the seed says so. */
void maybe_switch(struct core *core);

/* switch.c */
/* Whether cores can take turns in one thread here. */
int switch_available(void);
/* On a core's own thread, before its first kernel; returns when it is its turn. */
void switch_begin(struct core *core);
/* After the threads of all cores were made. */
void switch_wait_for_threads(struct machine *m);
/* From a core to another, or to the host (null); returns when it is its turn again. */
void switch_to(struct machine *m, struct core *from, struct core *to);
/* FREE: this core's kernel has ended, and whether all others' have; returns when the next one begins. */
void switch_done(struct machine *m, struct core *core, int last);
/* The host: lets the cores run, from the first that goes on (FREE: null, they run), until all have finished. */
/* The clock runs from the spawn on. */
void switch_spawned(struct machine *m);
void switch_run(struct machine *m, struct core *first);
/* The kernel runs for longer than the limit. */
void too_long(struct machine *m) __attribute__((noreturn));

/* Stops the program: which core, which transfer (or null), which rule, what happened. */
void broken(const char *rule, const struct core *core, const struct transfer *transfer, const char *text, ...)
    __attribute__((noreturn, format(printf, 4, 5)));
/* A place in words: A+16, LDM stack-128. `text` has 96 bytes. */
const char *place(const struct core *core, const void *address, char *text);

/* memory.c */
struct array *array_at(const void *address);
/* Whether it is where the blocks of malloc and its kin are, given out or not. */
int of_heap(const void *address);
/* Copies between main memory as the program sees it and a buffer, protected or not. */
void memory_read(const char *memory, char *buffer, size_t bytes);
void memory_write(char *memory, const char *buffer, size_t bytes);
void memory_init(struct machine *m);
void memory_of_slaves(struct machine *m);
/* The argument of a kernel where a direct access is seen, and back after the join. */
void *argument_copy(void *argument);
void argument_back(void);
/* guard.c */
void guard_init(void);
void protect(int on);
char *twice_mapped(size_t bytes, char *at, char **alias);

/* transfer_checks.c */
void transfer_check_reply(struct core *core, const struct transfer *t, const volatile int *reply);
void transfer_check_sizes(struct core *core, const struct transfer *t);
void transfer_check_local(struct core *core, const struct transfer *t);
int transfer_blocks(const struct transfer *t);
size_t transfer_pitch(const struct transfer *t);
void transfer_check_memory(struct core *core, struct transfer *t);
void transfer_check_in_flight(struct core *core, const struct transfer *t);
void transfer_mark_races(struct core *core, const struct transfer *t);
void transfer_check_written(const struct core *core, const struct transfer *t);

/* dma.c */
struct transfer *transfer_queue(struct core *core, const struct transfer *form);
uint64_t transfer_cores(uint64_t set);
void transfer_issue(struct core *core, struct transfer *form);
void transfer_reaches(struct core *core, const struct transfer *t);
void transfer_deliver(struct core *core, struct transfer *t);
/* Transfers in flight may be done at any time: while a kernel computes, their reply words have counted up already, so that one that is set then is seen to have been
 * set. Within the emulator they have not. */
void count_replies(struct core *core);
void uncount_replies(struct core *core);

/* races.c */
void race_access(struct array *array, char *first, size_t bytes, int who, uint32_t clock, const uint32_t *knows, int write,
                 const struct core *core, const struct transfer *transfer);

/* ldm.c */
void ldm_init(struct core *core);
/* On the core's own thread, once. */
void ldm_thread_begins(struct core *core);
void ldm_before_kernel(struct core *core, char *frame);
void ldm_entered(struct core *core, char *frame);
void ldm_repaint(struct core *core);
void ldm_after_kernel(struct core *core);
void ldm_check(struct core *core);
int ldm_holds(const struct core *core, const void *address, size_t bytes);
/* Where the heap of ldm_malloc is, the block that holds this; null: none. And whether it is there at all. */
int ldm_of_heap(const struct core *core, const void *address);
const struct piece *ldm_piece(const struct core *core, const void *address);
/* Stops the program if an address is one that ldm_malloc would have given, had there been room. */
void ldm_check_null(const struct core *core, const struct transfer *transfer, const void *address);
/* The same place in another core's local memory. */
char *ldm_same(const struct core *from, const struct core *to, const void *address);
void poison(char *first, size_t bytes);
int poisoned(const char *first, size_t bytes);

/* model.c */
extern const double core_frequency;
void record(struct core *core, enum event_kind kind, uint32_t what, double work, double latency);
void compute(struct core *core, double cycles);
/* The words sent so far are one message. */
void close_lot(struct core *core);
unsigned record_issue(struct core *core, int len, int bsize, int strided, int on_chip);
/* replay.c */
void replay(struct machine *m);
/* report.c */
void report_write(struct machine *m);

#endif
