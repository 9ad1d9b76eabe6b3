/* The replay of the time model: what cores did, in the order of time. Each event takes a few steps of two tournaments, one of cores and one of transfers. */
#include "emulator.h"

#include <math.h>
#include <stdlib.h>

enum { FASTEST_SHARE = 8 };

static const double spawn_and_join = 30e-6;

/* The least of a number for each core, and the first core that has it. */
struct tournament {
  double keys[2 * CORES]; /* of core k at CORES + k; each node has the lesser of its two */
};

enum blocked { GOES_ON, FOR_TRANSFER, FOR_MESSAGE, AT_BARRIER };

struct flow {
  double time;          /* of this core */
  size_t next;          /* event */
  int counted;          /* the cycles before the event are in `time` */
  enum blocked blocked;
  uint32_t message;     /* FOR_MESSAGE: which */
  double *done;         /* arrival of each transfer, or negative */
  double *work, *latency;
  unsigned issued, served, room;
  double stall_transfer, stall_sync, computed;
};

struct play {
  struct machine *m;
  struct flow flows[CORES];
  struct tournament cores;     /* when each does its next event; infinite while it can't */
  struct tournament transfers; /* what the memory will have done for each of its customers when that of this core ends; infinite without one */
  double *sent;  /* arrival of each message, or negative */
  double now;
  double served; /* work that the memory has done for each customer */
  int serving;
  int arrived[GROUPS];
  double barrier_time[GROUPS];
};

static void set(struct tournament *all, int core, double key)
{
  int node = CORES + core;
  all->keys[node] = key;
  while (node > 1) {
    double left = all->keys[node & ~1], right = all->keys[node | 1];
    node /= 2;
    all->keys[node] = right < left ? right : left;
  }
}

static double least(const struct tournament *all)
{
  return all->keys[1];
}

static int first(const struct tournament *all)
{
  int node = 1;
  while (node < CORES)
    node = 2 * node + (all->keys[2 * node + 1] < all->keys[2 * node]);
  return node - CORES;
}

static double speed(const struct play *play)
{
  return 1.0 / (play->serving > FASTEST_SHARE ? play->serving : FASTEST_SHARE);
}

/* Lets the memory work until `time`, at which nothing ends before. */
static void serve(struct play *play, double time)
{
  if (time <= play->now)
    return;
  play->served += (time - play->now) * speed(play);
  play->now = time;
}

/* After anything that changes what a core does next. */
static void schedule(struct play *play, int id)
{
  struct flow *flow = &play->flows[id];
  const struct trace *trace = &play->m->cores[id].trace;
  if (flow->next >= trace->count || flow->blocked != GOES_ON) {
    set(&play->cores, id, INFINITY);
    return;
  }
  if (!flow->counted) {
    double seconds = trace->events[flow->next].cycles / core_frequency;
    flow->time += seconds;
    flow->computed += seconds;
    flow->counted = 1;
  }
  set(&play->cores, id, flow->time);
}

/* The memory takes up the next transfer of a core, or has none. */
static void take_up(struct play *play, int id)
{
  const struct flow *flow = &play->flows[id];
  set(&play->transfers, id, flow->served < flow->issued ? play->served + flow->work[flow->served] : INFINITY);
}

static int same_group(int core, int group)
{
  return group == 16 || (group < 8 ? core / 8 == group : core % 8 == group - 8);
}

/* The barrier is complete: all of its cores go on. */
static void open_barrier(struct play *play, int group)
{
  double time = play->barrier_time[group];
  for (int i = 0; i < play->m->threads; i++) {
    struct flow *flow = &play->flows[i];
    if (!same_group(i, group))
      continue;
    flow->stall_sync += time - flow->time;
    flow->time = time;
    flow->blocked = GOES_ON;
    flow->next++;
    flow->counted = 0;
    schedule(play, i);
  }
  play->arrived[group] = 0;
  play->barrier_time[group] = 0;
}

/* Plays one event of a core at its time, unless it has to wait. */
static void play_event(struct play *play, int id)
{
  struct flow *flow = &play->flows[id];
  struct core *core = &play->m->cores[id];
  struct event *event = &core->trace.events[flow->next];
  switch ((enum event_kind)event->kind) {
  case ISSUE:
    if (flow->issued == flow->room) {
      flow->room = flow->room ? 2 * flow->room : 256;
      flow->done = realloc(flow->done, flow->room * sizeof(double));
      flow->work = realloc(flow->work, flow->room * sizeof(double));
      flow->latency = realloc(flow->latency, flow->room * sizeof(double));
      if (flow->done == NULL || flow->work == NULL || flow->latency == NULL)
        broken("memory", core, NULL, "no memory for the time model");
    }
    flow->done[flow->issued] = -1;
    flow->work[flow->issued] = event->work;
    flow->latency[flow->issued] = event->latency;
    if (flow->issued++ == flow->served) {
      play->serving++;
      take_up(play, id);
    }
    break;
  case DELIVER: {
    double done = flow->done[event->what];
    if (done < 0) {
      flow->blocked = FOR_TRANSFER;
      return;
    }
    if (done > flow->time) {
      flow->stall_transfer += done - flow->time;
      flow->time = done;
    }
    break;
  }
  case SEND:
    play->sent[event->what] = flow->time + event->latency;
    for (int i = 0; i < play->m->threads; i++) {
      struct flow *other = &play->flows[i];
      if (other->blocked == FOR_MESSAGE && other->message == event->what) {
        other->blocked = GOES_ON;
        schedule(play, i);
      }
    }
    break;
  case RECEIVE: {
    double sent = play->sent[event->what];
    if (sent < 0) {
      flow->blocked = FOR_MESSAGE;
      flow->message = event->what;
      return;
    }
    if (sent > flow->time) {
      flow->stall_sync += sent - flow->time;
      flow->time = sent;
    }
    break;
  }
  case BARRIER: {
    int group = (int)event->what;
    play->arrived[group]++;
    if (flow->time > play->barrier_time[group])
      play->barrier_time[group] = flow->time;
    flow->blocked = AT_BARRIER;
    if (play->arrived[group] == play->m->members[group])
      open_barrier(play, group);
    return;
  }
  case END:
    break;
  }
  flow->next++;
  flow->counted = 0;
}

void replay(struct machine *m)
{
  struct play *play = calloc(1, sizeof *play);
  double *sent = malloc((m->messages + 1) * sizeof *sent);
  if (play == NULL || sent == NULL)
    broken("memory", NULL, NULL, "no memory for the time model");
  for (uint32_t k = 0; k <= m->messages; k++)
    sent[k] = -1;
  play->m = m;
  play->sent = sent;
  for (int i = 0; i < CORES; i++) {
    set(&play->cores, i, INFINITY);
    set(&play->transfers, i, INFINITY);
  }
  for (int i = 0; i < m->threads; i++)
    schedule(play, i);
  /* The earlier of what a core does next and of the next end of a transfer. */
  for (;;) {
    double core_time = least(&play->cores), left = least(&play->transfers) - play->served;
    double end_time = play->now + (left > 0 ? left : 0) / speed(play);
    if (core_time == INFINITY && end_time == INFINITY)
      break;
    if (core_time <= end_time) {
      int id = first(&play->cores);
      serve(play, core_time);
      play_event(play, id);
      schedule(play, id);
    } else {
      int id = first(&play->transfers);
      struct flow *flow = &play->flows[id];
      serve(play, end_time);
      flow->done[flow->served] = end_time + flow->latency[flow->served];
      flow->served++;
      if (flow->served == flow->issued)
        play->serving--;
      take_up(play, id);
      if (flow->blocked == FOR_TRANSFER) {
        flow->blocked = GOES_ON;
        schedule(play, id);
      }
    }
  }
  for (int i = 0; i < m->threads; i++)
    if (play->flows[i].next < m->cores[i].trace.count)
      broken("time-model", NULL, NULL, "the trace can't be played");
  double longest = 0;
  struct report *report = &m->report;
  for (int i = 0; i < m->threads; i++) {
    struct flow *flow = &play->flows[i];
    if (flow->time > longest)
      longest = flow->time;
    report->compute += flow->computed / m->threads;
    report->stall_transfer += flow->stall_transfer / m->threads;
    report->stall_sync += flow->stall_sync / m->threads;
    free(flow->done);
    free(flow->work);
    free(flow->latency);
  }
  /* At the join the others wait for the last. */
  for (int i = 0; i < m->threads; i++)
    report->stall_sync += (longest - play->flows[i].time) / m->threads;
  report->seconds += longest + spawn_and_join;
  free(sent);
  free(play);
  m->messages = 0;
}
