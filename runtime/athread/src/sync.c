/* Barriers, and registers that travel along rows and columns. */
#include "emulator.h"

#include <stdlib.h>
#include <string.h>

#include "../include/simd.h"
#include "../include/slave.h"

enum { ARRAY_GROUP = 16, ALL_OTHERS = 8 };

static int group_of(const struct core *core, scope which)
{
  return which == ARRAY_SCOPE ? ARRAY_GROUP : which == ROW_SCOPE ? core->id / 8 : 8 + core->id % 8;
}

static int member(const struct core *core, int group)
{
  return group == ARRAY_GROUP || (group < 8 ? core->id / 8 == group : core->id % 8 == group - 8);
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
  if (++barrier->arrived == m->members[group]) {
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
    for (int i = 0; i < m->threads; i++)
      if (m->cores[i].wait_group == group)
        wake(&m->cores[i]);
    m->report.barriers++;
    maybe_switch(core);
  } else {
    core->wait_group = group;
    core->wait_generation = barrier->generation;
    wait_until(core, passed, 1);
  }
  leave(core);
  return 0;
}

static int room(const struct core *core, int direction)
{
  return core->fifo_count[direction] < core->fifo_room[direction];
}

static int has_room(struct core *core)
{
  return room(&machine()->cores[core->wait_target], core->wait_direction);
}

static int has_word(struct core *core)
{
  return core->fifo_count[core->wait_direction] > 0;
}

static void push(struct core *other, int along_row, const void *bytes, const struct lot *lot)
{
  struct word *word = &other->fifo[along_row][(unsigned)(other->fifo_first[along_row] + other->fifo_count[along_row]++) % FIFO_MOST];
  memcpy(word->bytes, bytes, sizeof word->bytes);
  word->lot = lot;
  if (other->state == WAITING && other->wait_target == -1 && other->wait_direction == along_row)
    wake(other);
}

static void send_to(struct core *core, int along_row, int target, const void *bytes, const struct lot *lot)
{
  struct core *other = &machine()->cores[target];
  core->wait_target = target;
  core->wait_direction = along_row;
  if (!has_room(core))
    wait_until(core, has_room, 0);
  core->wait_target = -2;
  push(other, along_row, bytes, lot);
}

/* The lot that the next word of a core belongs to. */
static struct lot *lot_of(struct core *core)
{
  if (!core->lot_open || core->lots->words == LOT) {
    close_lot(core);
    struct lot *lot = malloc(sizeof *lot);
    if (lot == NULL)
      broken("memory", core, NULL, "no memory for a message");
    lot->before = core->lots;
    lot->number = machine()->messages++;
    lot->words = 0;
    memcpy(lot->clocks, core->clocks, sizeof lot->clocks);
    core->clocks[core->id]++;
    core->lots = lot;
    core->lot_open = 1;
  }
  core->lots->words++;
  return core->lots;
}

/* A word takes a cycle, and does not end the lot. */
static void count_word(struct core *core)
{
  core->stated_cycles += 1;
  core->trace.cycles += 1;
}

/* Cores of a line but this one: the target, or all, who must all take part: words that nobody takes would fill a core's registers. */
static int targets(const struct core *core, int along_row, int target, int *found)
{
  int count = 0, row = core->id / 8, column = core->id % 8;
  for (int k = 0; k < 8; k++) {
    int other = along_row ? 8 * row + k : 8 * k + column;
    if (other == core->id || (target != ALL_OTHERS && k != target))
      continue;
    if (other < machine()->threads)
      found[count++] = other;
    else
      broken("target", core, NULL, target != ALL_OTHERS ? "%s to core %d, which takes no part" : "%s to all others, and core %d takes no part",
             along_row ? "putr" : "putc", other);
  }
  return count;
}

/* A word for which there is room everywhere, without the care for the stack that other calls take. Whether it was sent. */
static int send_at_once(struct core *core, int along_row, int target, const void *register_256)
{
  struct machine *m = machine();
  if (core == NULL || m->free_running || target < 0 || target > ALL_OTHERS)
    return 0;
  unsigned id = (unsigned)core->id, step = along_row ? 1 : 8, own = along_row ? id % 8 : id / 8;
  if ((unsigned)target == own)
    return 0;
  struct core *line = &m->cores[along_row ? id - own : id % 8];
  unsigned from = target == ALL_OTHERS ? 0 : (unsigned)target, to = target == ALL_OTHERS ? 8 : from + 1;
  for (unsigned k = from; k < to; k++)
    if (k != own && (line[k * step].id >= m->threads || !room(&line[k * step], along_row)))
      return 0;
  const struct lot *lot = lot_of(core);
  m->report.messages++;
  count_word(core);
  for (unsigned k = from; k < to; k++)
    if (k != own)
      push(&line[k * step], along_row, register_256, lot);
  return 1;
}

__attribute__((noinline)) static void send_in_turn(int along_row, int target, const void *register_256, char *frame)
{
  struct machine *m = machine();
  struct core *core = enter(along_row ? "putr" : "putc", frame);
  int found[8], count;
  if (target < 0 || target > ALL_OTHERS)
    broken("target", core, NULL, "%s to %d: a target is 0 to 7, or 8 for all others", along_row ? "putr" : "putc", target);
  if (target == (along_row ? core->id % 8 : core->id / 8))
    broken("target", core, NULL, "%s to itself", along_row ? "putr" : "putc");
  const struct lot *lot = lot_of(core);
  m->report.messages++;
  count_word(core);
  count = targets(core, along_row, target, found);
  for (int k = 0; k < count; k++)
    send_to(core, along_row, found[k], register_256, lot);
  maybe_switch(core);
  leave(core);
}

void emulated_send(int along_row, int target, const void *register_256)
{
  if (!send_at_once(this_core(), along_row, target, register_256))
    send_in_turn(along_row, target, register_256, __builtin_frame_address(0));
}

/* How many words may wait for a core that has taken so many; the same for all cores, since what blocks for ever does so in a circle. */
static int next_room(unsigned passed)
{
  uint64_t mixed = (machine()->seed + passed / FIFO_STRETCH) * UINT64_C(0x9e3779b97f4a7c15);
  return passed < FIFO_TRIED || (mixed >> 32) % FIFO_AGAIN == 0 ? FIFO : FIFO_MOST;
}

/* Takes the first word. */
static void pop(struct core *core, int along_row, void *register_256)
{
  struct word *first = &core->fifo[along_row][core->fifo_first[along_row]];
  memcpy(register_256, first->bytes, sizeof first->bytes);
  const struct lot *lot = first->lot;
  core->fifo_first[along_row] = (unsigned)(core->fifo_first[along_row] + 1) % FIFO_MOST;
  core->fifo_count[along_row]--;
  if (++core->fifo_passed[along_row] % FIFO_STRETCH == 0)
    core->fifo_room[along_row] = next_room(core->fifo_passed[along_row]);
  count_word(core);
  if (core->last_received[along_row] == lot->number)
    return;
  core->last_received[along_row] = lot->number;
  record(core, RECEIVE, lot->number, 0, 0);
  for (int i = 0; i <= CORES; i++)
    if (lot->clocks[i] > core->clocks[i] && i != core->id)
      core->clocks[i] = lot->clocks[i];
}

__attribute__((noinline)) static void receive_in_turn(int along_row, void *register_256, char *frame)
{
  struct core *core = enter(along_row ? "getr" : "getc", frame);
  core->wait_direction = along_row;
  core->wait_target = -1;
  if (!has_word(core))
    wait_until(core, has_word, 1);
  core->wait_target = -2;
  pop(core, along_row, register_256);
  maybe_switch(core);
  leave(core);
}

void emulated_receive(int along_row, void *register_256)
{
  struct core *core = this_core();
  if (core != NULL && !machine()->free_running && core->fifo_count[along_row] > 0)
    pop(core, along_row, register_256);
  else
    receive_in_turn(along_row, register_256, __builtin_frame_address(0));
}
