/* The time model. Cores leave a trace of what they compute, transfer and wait for; after the join it is played in the order of time.
 *
 * All cores share the memory. A transfer has an amount of work, the time in which the whole memory would do it alone; n transfers at a time
 * advance at 1/n of that speed each, and one alone at no more than 1/8. A core's transfers follow one another; each arrives a latency
 * after its end, while the next is under way. Work and latency are those that give the measured rates of 64 cores at it:
 * contiguous transfers by size, strided ones of 24 KiB by block.
 */
#include "emulator.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { RATES = 8, FASTEST_SHARE = 8 };

const double core_frequency = 1.45e9;

/* GB/s of 64 cores together. */
static const double contiguous_bytes[RATES] = {64, 128, 256, 512, 1024, 2048, 4096, 24576};
static const double contiguous_rate[RATES] = {1.9, 3.0, 6.0, 8.8, 12.5, 15.3, 18.4, 20.4};
static const double block_bytes[RATES] = {8, 64, 128, 256, 512, 1024, 4096, 24576};
static const double block_rate[RATES] = {0.5, 3, 5, 8.5, 12, 15, 18.6, 20.4};
static const double strided_latency = 1.7e-6;
static const double spawn_and_join = 30e-6;
/* A transfer between cores: from a core to its neighbour as a register, then 16 bytes a cycle. */
static const double register_latency = 14 / 1.45e9; /* a register reaches a neighbour in 10 to 14 cycles */
static const double remote_latency = 0.2e-6, remote_rate = 16 * 1.45e9;

/* Between the points on a line in logarithms; outside, as at the end. */
static double rate(const double *at, const double *rates, double bytes)
{
  if (bytes <= at[0])
    return rates[0] * bytes / at[0];
  for (int k = 1; k < RATES; k++)
    if (bytes <= at[k]) {
      double part = log(bytes / at[k - 1]) / log(at[k] / at[k - 1]);
      return rates[k - 1] * pow(rates[k] / rates[k - 1], part);
    }
  return rates[RATES - 1];
}

/* Seconds of the whole memory for one byte in blocks of this size: what is left of the measured time without the latency. */
static double byte_work(double block)
{
  double measured = 24576 * CORES / (rate(block_bytes, block_rate, block) * 1e9);
  return (measured - strided_latency) / (24576 * CORES);
}

void close_lot(struct core *core)
{
  if (!core->lot_open)
    return;
  core->lot_open = 0;
  record(core, SEND, core->lots->number, 0, register_latency);
}

void compute(struct core *core, double cycles)
{
  close_lot(core);
  core->stated_cycles += cycles;
  core->trace.cycles += cycles;
}

void record(struct core *core, enum event_kind kind, uint32_t what, double work, double latency)
{
  close_lot(core);
  struct trace *trace = &core->trace;
  if (trace->count == trace->room) {
    size_t room = trace->room ? 2 * trace->room : 1024;
    struct event *larger = realloc(trace->events, room * sizeof *larger);
    if (larger == NULL)
      broken("memory", core, NULL, "no memory for the trace of the time model");
    trace->events = larger;
    trace->room = room;
  }
  struct event *event = &trace->events[trace->count++];
  *event = (struct event){.cycles = trace->cycles, .work = work, .latency = latency, .kind = kind, .what = what};
  trace->cycles = 0;
}

unsigned record_issue(struct core *core, int len, int block, int strided, int on_chip)
{
  if (on_chip) {
    unsigned message = machine()->messages++;
    record(core, SEND, message, 0, remote_latency + len / remote_rate);
    return message;
  }
  double work = len * byte_work(block), latency = strided_latency;
  if (!strided) {
    double measured = (double)len * CORES / (rate(contiguous_bytes, contiguous_rate, len) * 1e9);
    latency = measured - work * CORES;
    if (latency < 0.3e-6)
      latency = 0.3e-6;
  }
  unsigned number = core->issues++;
  record(core, ISSUE, number, work, latency);
  return number;
}

/* ---- the replay ---- */

struct flow {
  double time;          /* of this core, when it runs */
  size_t next;          /* event */
  int counted;          /* the cycles before the event are in `time` */
  int blocked;
  double *done;         /* arrival of each transfer, or negative */
  double *work, *latency;
  unsigned issued, served, room;
  double left;          /* work left of the transfer in service */
  double stall_transfer, stall_sync, computed;
};

struct play {
  struct machine *m;
  struct flow flows[CORES];
  double *sent; /* arrival of each message, or negative */
  double now;
  int serving;
  int arrived[17];
  double barrier_time[17];
};

static double speed(const struct play *play)
{
  return 1.0 / (play->serving > FASTEST_SHARE ? play->serving : FASTEST_SHARE);
}

/* Lets the memory work until `time`, at which nothing ends before. */
static void serve(struct play *play, double time)
{
  double done = (time - play->now) * speed(play);
  if (done > 0)
    for (int i = 0; i < play->m->threads; i++)
      if (play->flows[i].served < play->flows[i].issued)
        play->flows[i].left -= done;
  if (time > play->now)
    play->now = time;
}

static int same_group(int core, int group)
{
  return group == 16 || (group < 8 ? core / 8 == group : core % 8 == group - 8);
}

/* Plays one event of a core at its time; 0 if it has to wait. */
static int play_event(struct play *play, int id)
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
    if (flow->served == flow->issued) {
      flow->left = event->work;
      play->serving++;
    }
    flow->issued++;
    break;
  case DELIVER: {
    double done = flow->done[event->what];
    if (done < 0)
      return 0;
    if (done > flow->time) {
      flow->stall_transfer += done - flow->time;
      flow->time = done;
    }
    break;
  }
  case SEND:
    play->sent[event->what] = flow->time + event->latency;
    break;
  case RECEIVE: {
    double sent = play->sent[event->what];
    if (sent < 0)
      return 0;
    if (sent > flow->time) {
      flow->stall_sync += sent - flow->time;
      flow->time = sent;
    }
    break;
  }
  case BARRIER: {
    int group = (int)event->what;
    if (flow->blocked != 2) {
      flow->blocked = 2;
      play->arrived[group]++;
      if (flow->time > play->barrier_time[group])
        play->barrier_time[group] = flow->time;
    }
    int members = 0;
    for (int i = 0; i < play->m->threads; i++)
      members += same_group(i, group);
    if (play->arrived[group] < members)
      return 0;
    double time = play->barrier_time[group];
    for (int i = 0; i < play->m->threads; i++)
      if (same_group(i, group)) {
        struct flow *other = &play->flows[i];
        other->stall_sync += time - other->time;
        other->time = time;
        other->blocked = 0;
        other->next += i != id;
        other->counted = 0;
      }
    play->arrived[group] = 0;
    play->barrier_time[group] = 0;
    break;
  }
  case END:
    break;
  }
  flow->next++;
  flow->counted = 0;
  return 1;
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
  for (;;) {
    /* The earliest of what cores do next and of the next end of a transfer. A core that waits tries again whenever something ends. */
    int best = -1, ending = -1;
    double least = INFINITY, end = INFINITY;
    int waiting = 0;
    for (int i = 0; i < m->threads; i++) {
      struct flow *flow = &play->flows[i];
      struct core *core = &m->cores[i];
      if (flow->served < flow->issued && flow->left < end) {
        end = flow->left;
        ending = i;
      }
      if (flow->next >= core->trace.count)
        continue;
      if (flow->blocked) {
        waiting = 1;
        continue;
      }
      struct event *event = &core->trace.events[flow->next];
      if (!flow->counted) {
        flow->time += event->cycles / core_frequency;
        flow->computed += event->cycles / core_frequency;
        flow->counted = 1;
      }
      if (flow->time < least) {
        least = flow->time;
        best = i;
      }
    }
    if (best < 0 && ending < 0) {
      if (waiting)
        broken("time-model", NULL, NULL, "the trace can't be played");
      break;
    }
    double end_time = ending >= 0 ? play->now + (end > 0 ? end : 0) / speed(play) : INFINITY;
    if (best >= 0 && least <= end_time) {
      serve(play, least);
      struct flow *flow = &play->flows[best];
      uint32_t kind = m->cores[best].trace.events[flow->next].kind;
      if (!play_event(play, best)) {
        if (flow->blocked == 0)
          flow->blocked = 1;
      } else if (kind == SEND) {
        for (int i = 0; i < m->threads; i++)
          if (play->flows[i].blocked == 1)
            play->flows[i].blocked = 0;
      }
    } else {
      serve(play, end_time);
      struct flow *flow = &play->flows[ending];
      flow->done[flow->served] = end_time + flow->latency[flow->served];
      flow->served++;
      if (flow->served < flow->issued)
        flow->left = flow->work[flow->served];
      else
        play->serving--;
      if (flow->blocked == 1)
        flow->blocked = 0;
    }
  }
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
