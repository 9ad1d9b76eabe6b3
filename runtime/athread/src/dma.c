/* Transfers: done when something waits for them.
 *
 * A get fills its destination with NaN at issue, a put remembers its source: a missing wait, or a buffer used too early, shows at once.
 */
#include "emulator.h"

#include <stdlib.h>
#include <string.h>

static void count(struct core *core, struct transfer *t)
{
  struct report *report = &machine()->report;
  uint64_t blocks = (uint64_t)transfer_blocks(t), block = t->bsize > 0 ? (uint64_t)t->bsize : (uint64_t)t->len;
  report->commands++;
  report->blocks += blocks;
  int bucket = 0;
  while (bucket + 1 < BUCKETS && (UINT64_C(2) << bucket) <= block)
    bucket++;
  report->bucket_blocks[bucket] += blocks;
  report->bucket_bytes[bucket] += (uint64_t)t->len;
  *(t->kind == GET ? &report->bytes_get : &report->bytes_put) += (uint64_t)t->len;
  if ((uintptr_t)t->memory % 128 != 0)
    report->unaligned++;
  t->event = record_issue(core, t->len, (int)block, t->bsize > 0 && t->stride > 0, 0);
}

struct transfer *transfer_queue(struct core *core, const struct transfer *form)
{
  struct transfer *t = malloc(sizeof *t);
  if (t == NULL)
    broken("memory", core, form, "no memory for a transfer");
  *t = *form;
  t->next = NULL;
  struct transfer **end = &core->pending;
  while (*end != NULL)
    end = &(*end)->next;
  if (t->reply != NULL) {
    for (const struct transfer *other = core->pending; other != NULL; other = other->next)
      if (other->reply == t->reply && *t->reply != other->reply_at_issue)
        broken("reply-changed", core, t, "the reply word is %d and was %d when transfer %u, still in flight, was issued", *t->reply,
               other->reply_at_issue, other->number);
    t->reply_at_issue = *t->reply;
  }
  if (t->kind == PUT || t->kind == RMA_PUT) {
    t->snapshot = malloc((size_t)t->len);
    if (t->snapshot == NULL)
      broken("memory", core, t, "no memory for a transfer");
    memcpy(t->snapshot, t->local, (size_t)t->len);
  }
  if (t->kind == RMA_GET) {
    t->snapshot = malloc((size_t)t->len);
    if (t->snapshot == NULL)
      broken("memory", core, t, "no memory for a transfer");
    memcpy(t->snapshot, ldm_same(core, &machine()->cores[t->peer], t->memory), (size_t)t->len);
  }
  *end = t;
  return t;
}

/* The cores of a set of numbers that take part. */
uint64_t transfer_cores(uint64_t set)
{
  int threads = machine()->threads;
  return threads == 64 ? set : set & ((UINT64_C(1) << threads) - 1);
}

void transfer_issue(struct core *core, struct transfer *form)
{
  form->number = ++core->transfers;
  transfer_check_sizes(core, form);
  transfer_check_local(core, form);
  if (form->reply != NULL)
    transfer_check_reply(core, form, form->reply);
  transfer_check_memory(core, form);
  transfer_check_in_flight(core, form);
  if (form->kind == PUT)
    transfer_check_written(core, form);
  form->clock = core->clocks[core->id];
  transfer_mark_races(core, form);
  struct transfer *t = transfer_queue(core, form);
  count(core, t);
  if (t->kind == GET)
    for (int i = 0; i < CORES; i++)
      if (t->targets >> i & 1)
        poison(ldm_same(core, &machine()->cores[i], t->local), (size_t)t->len);
}

/* ---- the end of a transfer ---- */

static void check_untouched(const struct core *core, const struct transfer *t, const struct core *owner, const char *first)
{
  if (!poisoned(first, (size_t)t->len)) {
    char where[96];
    size_t k = 0;
    while (poisoned(first, k + 4) && k + 4 < (size_t)t->len)
      k += 4;
    broken("in-flight", core, t, "%s was written while the transfer was in flight", place(owner == core ? core : NULL, first + k, where));
  }
}

static void check_source(const struct core *core, const struct transfer *t)
{
  if (memcmp(t->snapshot, t->local, (size_t)t->len) != 0) {
    char where[96];
    size_t k = 0;
    while (t->snapshot[k] == t->local[k])
      k++;
    broken("in-flight", core, t, "%s was changed while the transfer was in flight", place(core, t->local + k, where));
  }
}

/* ---- races in local memory that other cores reach ---- */

/* A transfer of `core` at local memory of `owner`: against what transfers of other cores have done there. */
static void local_access(struct core *owner, char *first, size_t bytes, int write, const struct core *core, const struct transfer *t)
{
  struct access *same = NULL;
  for (int k = 0; k < owner->access_count; k++) {
    struct access *other = &owner->accesses[k];
    if (other->first >= first + bytes || first >= other->first + other->bytes)
      continue;
    if (other->who == core->id) {
      if (other->first == first && other->bytes == bytes && other->write == write)
        same = other;
    } else if ((write || other->write) && other->clock > core->clocks[other->who]) {
      char where[96];
      broken("race", core, t, "it %s %s, which a transfer of core %d has %s, and nothing orders the two", write ? "writes" : "reads",
             place(core, first > other->first ? first : other->first, where), other->who, other->write ? "written" : "read");
    }
  }
  if (same == NULL) {
    same = &owner->accesses[owner->access_next];
    owner->access_next = (owner->access_next + 1) % ACCESSES;
    if (owner->access_count < ACCESSES)
      owner->access_count++;
  }
  *same = (struct access){first, bytes, core->id, write, core->clocks[core->id]};
}

void transfer_reaches(struct core *core, const struct transfer *t)
{
  struct machine *m = machine();
  int put = t->kind == RMA_PUT;
  local_access(core, t->local, (size_t)t->len, !put, core, t);
  for (int i = 0; i < CORES; i++)
    if (t->targets >> i & 1 && ldm_same(core, &m->cores[i], t->memory) != t->local)
      local_access(&m->cores[i], ldm_same(core, &m->cores[i], t->memory), (size_t)t->len, put, core, t);
}

static void move(struct core *core, struct transfer *t)
{
  struct machine *m = machine();
  size_t blocks = (size_t)transfer_blocks(t), block = t->bsize > 0 ? (size_t)t->bsize : (size_t)t->len;
  if (t->kind == GET) {
    for (int i = 0; i < CORES; i++)
      if (t->targets >> i & 1)
        check_untouched(core, t, &m->cores[i], ldm_same(core, &m->cores[i], t->local));
    for (size_t k = 0; k < blocks; k++)
      memory_read(t->memory + k * transfer_pitch(t), t->local + k * block, block);
    for (int i = 0; i < CORES; i++)
      if (t->targets >> i & 1 && i != core->id)
        memcpy(ldm_same(core, &m->cores[i], t->local), t->local, (size_t)t->len);
    if (!(t->targets >> core->id & 1))
      poison(t->local, (size_t)t->len);
  } else {
    check_source(core, t);
    for (size_t k = 0; k < blocks; k++)
      memory_write(t->memory + k * transfer_pitch(t), t->local + k * block, block);
  }
  if (t->clock != core->clocks[core->id])
    transfer_mark_races(core, t);
  if (m->pro)
    local_access(core, t->local, (size_t)t->len, t->kind == GET, core, t);
}

static void arrive(struct core *core, volatile int *reply, uint32_t message, const uint32_t *clocks)
{
  if (core->arrival_count == core->arrival_room) {
    int room = core->arrival_room ? 2 * core->arrival_room : 16;
    struct arrival *larger = realloc(core->arrivals, (size_t)room * sizeof *larger);
    if (larger == NULL)
      broken("memory", core, NULL, "no memory for a transfer");
    core->arrivals = larger;
    core->arrival_room = room;
  }
  struct arrival *arrival = &core->arrivals[core->arrival_count++];
  arrival->reply = reply;
  arrival->message = message;
  memcpy(arrival->clocks, clocks, sizeof arrival->clocks);
}

static void move_remote(struct core *core, struct transfer *t)
{
  struct machine *m = machine();
  if (t->clock != core->clocks[core->id])
    transfer_reaches(core, t);
  if (t->kind == RMA_PUT)
    check_source(core, t);
  for (int i = 0; i < CORES; i++) {
    if (!(t->targets >> i & 1))
      continue;
    struct core *other = &m->cores[i];
    char *there = ldm_same(core, other, t->memory);
    if (t->kind == RMA_PUT) {
      if (there != t->local)
        check_untouched(core, t, other, there);
      memcpy(there, t->snapshot, (size_t)t->len);
    } else {
      check_untouched(core, t, core, t->local);
      if (memcmp(t->snapshot, there, (size_t)t->len) != 0)
        broken("in-flight", core, t, "core %d changes what is fetched from it while the transfer is in flight", other->id);
      memcpy(t->local, there, (size_t)t->len);
    }
    if (t->remote_reply != NULL) {
      volatile int *reply = (volatile int *)(void *)ldm_same(core, other, (const void *)t->remote_reply);
      *reply += 1;
      arrive(other, reply, t->event, core->clocks);
    }
  }
  if (t->reply != NULL)
    arrive(core, t->reply, t->event, core->clocks);
  core->clocks[core->id]++;
}

void transfer_deliver(struct core *core, struct transfer *t)
{
  struct transfer **link = &core->pending;
  while (*link != t)
    link = &(*link)->next;
  *link = t->next;
  if (t->kind == GET || t->kind == PUT)
    move(core, t);
  else
    move_remote(core, t);
  if (t->reply != NULL) {
    if (*t->reply != t->reply_at_issue)
      broken("reply-changed", core, t, "the reply word was %d at issue and is %d: it was changed while the transfer was in flight",
             t->reply_at_issue, *t->reply);
    *t->reply += 1;
    for (struct transfer *other = core->pending; other != NULL; other = other->next)
      if (other->reply == t->reply)
        other->reply_at_issue = *t->reply;
  }
  if (t->kind == GET || t->kind == PUT)
    record(core, DELIVER, t->event, 0, 0);
  free(t->snapshot);
  free(t);
}

/* ---- replies of transfers in flight, as a kernel sees them ---- */

void count_replies(struct core *core)
{
  if (core->pending == NULL || machine()->free_running)
    return;
  core->counted = 1;
  for (struct transfer *t = core->pending; t != NULL; t = t->next)
    if (t->reply != NULL)
      *t->reply = t->reply_at_issue + 1;
}

void uncount_replies(struct core *core)
{
  if (!core->counted)
    return;
  core->counted = 0;
  /* Several may count the same word: it is looked at for all before it is set back. */
  for (struct transfer *t = core->pending; t != NULL; t = t->next)
    if (t->reply != NULL && *t->reply != t->reply_at_issue + 1)
      broken("reply-changed", core, t, "the reply word was %d at issue, may have counted up since, and was set to %d with the transfer in flight: "
             "nothing has waited for it, or a loop in a form that is not found (dma_wait is)", t->reply_at_issue, *t->reply);
  for (struct transfer *t = core->pending; t != NULL; t = t->next)
    if (t->reply != NULL)
      *t->reply = t->reply_at_issue;
}

int emulated_look(void)
{
  if (this_core() != NULL)
    uncount_replies(this_core());
  return 1;
}

/* ---- waiting ---- */

static int pending_on(const struct core *core, const volatile int *reply, struct transfer **last)
{
  int n = 0;
  for (struct transfer *t = core->pending; t != NULL; t = t->next)
    if (t->reply == reply) {
      n++;
      if (last != NULL)
        *last = t;
    }
  return n;
}

/* A remote transfer of another core that counts up this reply word. */
static struct transfer *coming(const struct core *core, const volatile int *reply, struct core **from)
{
  struct machine *m = machine();
  for (int i = 0; i < m->threads; i++)
    for (struct transfer *t = m->cores[i].pending; t != NULL; t = t->next)
      if (t->remote_reply != NULL && t->targets >> core->id & 1 &&
          ldm_same(&m->cores[i], core, (const void *)t->remote_reply) == (const char *)reply) {
        *from = &m->cores[i];
        return t;
      }
  return NULL;
}

static int reply_is(struct core *core)
{
  struct core *from;
  return *core->wait_reply == core->wait_value || coming(core, core->wait_reply, &from) != NULL;
}

static int reply_reaches(struct core *core)
{
  struct core *from;
  return *core->wait_reply >= core->wait_value || coming(core, core->wait_reply, &from) != NULL;
}

/* What other cores have sent is known, and has its time, once this core has waited for it. */
static void learn(struct core *core, const volatile int *reply)
{
  int kept = 0;
  for (int k = 0; k < core->arrival_count; k++) {
    struct arrival *arrival = &core->arrivals[k];
    if (arrival->reply != reply) {
      core->arrivals[kept++] = *arrival;
      continue;
    }
    record(core, RECEIVE, arrival->message, 0, 0);
    for (int i = 0; i <= CORES; i++)
      if (arrival->clocks[i] > core->clocks[i] && i != core->id)
        core->clocks[i] = arrival->clocks[i];
  }
  core->arrival_count = kept;
}

static void wait_rest(struct core *core, volatile int *reply, int value, int (*ready)(struct core *))
{
  for (;;) {
    struct core *from = NULL;
    struct transfer *t;
    while ((t = coming(core, reply, &from)) != NULL)
      transfer_deliver(from, t);
    if (ready == reply_is ? *reply == value : *reply >= value)
      break;
    core->wait_reply = reply;
    core->wait_value = value;
    wait_until(core, ready, 0);
  }
  learn(core, reply);
}

void emulated_wait(volatile void *given, int value)
{
  struct core *core = enter("dma_wait", __builtin_frame_address(0));
  volatile int *reply = given;
  transfer_check_reply(core, NULL, reply);
  struct transfer *last = NULL;
  int n = pending_on(core, reply, &last);
  if (n > 0 && *reply + n > value) {
    char where[96];
    broken("reply", core, last, "dma_wait waits until %s is %d; it is %d and %d transfers in flight count it up%s",
           place(core, (const void *)reply, where), value, *reply, n,
           *reply >= value ? ": it was not reset" : ": it may be past that value when it is looked at");
  }
  while (pending_on(core, reply, NULL) > 0) {
    struct transfer *t = core->pending;
    while (t->reply != reply)
      t = t->next;
    transfer_deliver(core, t);
  }
  maybe_switch(core);
  wait_rest(core, reply, value, reply_is);
  leave(core);
}

void emulated_wait_least(volatile void *given, int value)
{
  struct core *core = enter("CRTS_dma_wait_value", __builtin_frame_address(0));
  volatile int *reply = given;
  transfer_check_reply(core, NULL, reply);
  /* No more than are needed, and not in order: nothing says which are done. */
  int n;
  while (*reply < value && (n = pending_on(core, reply, NULL)) > 0) {
    int skip = (int)((machine()->random >> 20) % (uint64_t)n);
    struct transfer *t = core->pending;
    for (;; t = t->next)
      if (t->reply == reply && skip-- == 0)
        break;
    transfer_deliver(core, t);
  }
  maybe_switch(core);
  wait_rest(core, reply, value, reply_reaches);
  leave(core);
}

static int always(struct core *core)
{
  return core->pending != NULL;
}

int emulated_spin(void)
{
  struct core *core = enter("a waiting loop", __builtin_frame_address(0));
  if (core->pending != NULL) {
    transfer_deliver(core, core->pending);
    maybe_switch(core);
  } else {
    /* Only another core's doing can end the loop: deliver what remote transfers there are, else it turns for ever. */
    struct machine *m = machine();
    int progress = 0;
    for (int i = 0; i < m->threads && !progress; i++)
      for (struct transfer *t = m->cores[i].pending; t != NULL && !progress; t = t->next)
        if (t->remote_reply != NULL && t->targets >> core->id & 1) {
          volatile int *reply = (volatile int *)(void *)ldm_same(&m->cores[i], core, (const void *)t->remote_reply);
          transfer_deliver(&m->cores[i], t);
          learn(core, reply);
          progress = 1;
        }
    if (!progress)
      wait_until(core, always, 0);
  }
  leave(core);
  return 1;
}
