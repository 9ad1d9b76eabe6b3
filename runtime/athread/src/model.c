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

enum { RATES = 8 };

const double core_frequency = 1.45e9;

/* GB/s of 64 cores together. */
static const double contiguous_bytes[RATES] = {64, 128, 256, 512, 1024, 2048, 4096, 24576};
static const double contiguous_rate[RATES] = {1.9, 3.0, 6.0, 8.8, 12.5, 15.3, 18.4, 20.4};
static const double block_bytes[RATES] = {8, 64, 128, 256, 512, 1024, 4096, 24576};
static const double block_rate[RATES] = {0.5, 3, 5, 8.5, 12, 15, 18.6, 20.4};
static const double strided_latency = 1.7e-6;
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
