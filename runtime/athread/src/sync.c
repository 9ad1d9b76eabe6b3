/* Barriers, and registers that travel along rows and columns. */
#include "emulator.h"

#include <string.h>

#include "../include/simd.h"
#include "../include/slave.h"

enum { ARRAY_GROUP = 16, ALL_OTHERS = 8 };

/* A register reaches a neighbour in 10 to 14 cycles. */
static const double register_seconds = 14 / 1.45e9;

static int group_of(const struct core *core, scope which)
{
  return which == ARRAY_SCOPE ? ARRAY_GROUP : which == ROW_SCOPE ? core->id / 8 : 8 + core->id % 8;
}

static int member(const struct core *core, int group)
{
  return group == ARRAY_GROUP || (group < 8 ? core->id / 8 == group : core->id % 8 == group - 8);
}

static int members(int group)
{
  struct machine *m = machine();
  int n = 0;
  for (int i = 0; i < m->threads; i++)
    n += member(&m->cores[i], group);
  return n;
}

static int passed(struct core *core)
{
  return machine()->barriers[core->wait_group].generation != core->wait_generation;
}

int athread_syn(scope which, int mask)
{
  struct core *core = enter("athread_syn", __builtin_frame_address(0));
  struct machine *m = machine();
  int wanted = which == ARRAY_SCOPE ? 0xffff : 0xff;
  if (which != ROW_SCOPE && which != COL_SCOPE && which != ARRAY_SCOPE)
    broken("barrier", core, NULL, "athread_syn of scope %d", (int)which);
  if (m->threads == CORES && mask != wanted)
    broken("barrier", core, NULL, "athread_syn with the mask 0x%x where all cores run; a barrier of all has 0x%x", (unsigned)mask,
           (unsigned)wanted);
  int group = group_of(core, which);
  struct barrier *barrier = &m->barriers[group];
  record(core, BARRIER, (uint32_t)group, 0, 0);
  for (int i = 0; i <= CORES; i++)
    if (core->clocks[i] > barrier->clocks[i])
      barrier->clocks[i] = core->clocks[i];
  if (++barrier->arrived == members(group)) {
    for (int i = 0; i < m->threads; i++) {
      struct core *other = &m->cores[i];
      if (!member(other, group))
        continue;
      memcpy(other->clocks, barrier->clocks, sizeof other->clocks);
      other->clocks[i]++;
    }
    memset(barrier->clocks, 0, sizeof barrier->clocks);
    barrier->arrived = 0;
    barrier->generation++;
    m->report.barriers++;
    maybe_switch(core);
  } else {
    core->wait_group = group;
    core->wait_generation = barrier->generation;
    wait_until(core, passed);
  }
  leave(core);
  return 0;
}

static int has_room(struct core *core)
{
  return machine()->cores[core->wait_target].fifo_count[core->wait_direction] < FIFO;
}

static int has_word(struct core *core)
{
  return core->fifo_count[core->wait_direction] > 0;
}

static void send_to(struct core *core, int along_row, int target, const struct message *message)
{
  struct core *other = &machine()->cores[target];
  core->wait_target = target;
  core->wait_direction = along_row;
  if (!has_room(core))
    wait_until(core, has_room);
  core->wait_target = -2;
  other->fifo[along_row][other->fifo_count[along_row]++] = *message;
}

void emulated_send(int along_row, int target, const void *register_256)
{
  struct core *core = enter(along_row ? "putr" : "putc", __builtin_frame_address(0));
  struct machine *m = machine();
  int row = core->id / 8, column = core->id % 8;
  if (target < 0 || target > ALL_OTHERS)
    broken("target", core, NULL, "%s to %d: a target is 0 to 7, or 8 for all others", along_row ? "putr" : "putc", target);
  if (target == (along_row ? column : row))
    broken("target", core, NULL, "%s to itself", along_row ? "putr" : "putc");
  struct message message;
  memcpy(message.bytes, register_256, sizeof message.bytes);
  message.number = m->messages++;
  memcpy(message.clocks, core->clocks, sizeof message.clocks);
  core->clocks[core->id]++;
  m->report.messages++;
  compute(core, 1);
  record(core, SEND, message.number, 0, register_seconds);
  for (int k = 0; k < 8; k++) {
    int other = along_row ? 8 * row + k : 8 * k + column;
    if (other == core->id || (target != ALL_OTHERS && k != target))
      continue;
    if (other < m->threads)
      send_to(core, along_row, other, &message);
    else if (target != ALL_OTHERS)
      broken("target", core, NULL, "%s to core %d, which takes no part", along_row ? "putr" : "putc", other);
  }
  maybe_switch(core);
  leave(core);
}

void emulated_receive(int along_row, void *register_256)
{
  struct core *core = enter(along_row ? "getr" : "getc", __builtin_frame_address(0));
  core->wait_direction = along_row;
  core->wait_target = -1;
  if (!has_word(core))
    wait_until(core, has_word);
  core->wait_target = -2;
  struct message *first = &core->fifo[along_row][0];
  memcpy(register_256, first->bytes, sizeof first->bytes);
  compute(core, 1);
  record(core, RECEIVE, first->number, 0, 0);
  for (int i = 0; i <= CORES; i++)
    if (first->clocks[i] > core->clocks[i] && i != core->id)
      core->clocks[i] = first->clocks[i];
  memmove(first, first + 1, (size_t)--core->fifo_count[along_row] * sizeof *first);
  maybe_switch(core);
  leave(core);
}
