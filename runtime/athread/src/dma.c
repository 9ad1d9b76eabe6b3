/* Transfers: checked when they are issued, done when something waits for them.
 *
 * A get fills its destination with NaN at issue, a put remembers its source: a missing wait, or a buffer used too early, shows at once.
 */
#include "emulator.h"

#include <stdlib.h>
#include <string.h>

#include "../include/crts.h"
#include "../include/slave.h"

static void check_reply(struct core *core, const struct transfer *t, const volatile int *reply)
{
  char where[96];
  if ((uintptr_t)reply % 4 != 0)
    broken("misaligned", core, t, "the reply word at %s is not at a multiple of 4", place(core, (const void *)reply, where));
  if (!ldm_holds(core, (const void *)reply, 4))
    broken("not-in-ldm", core, t, "the reply word at %s is not in the local memory of this core", place(core, (const void *)reply, where));
  if (ldm_of_heap(core, (const void *)reply) && ldm_piece(core, (const void *)reply) == NULL)
    broken("ldm-block", core, t, "the reply word at %s is in no block that ldm_malloc has given, or in one given back", place(core, (const void *)reply, where));
}

static int is_local(const void *address)
{
  struct machine *m = machine();
  for (int i = 0; i < CORES; i++)
    if (ldm_holds(&m->cores[i], address, 1))
      return 1;
  return 0;
}

static void check_sizes(struct core *core, const struct transfer *t)
{
  struct machine *m = machine();
  int width = m->pro ? 18 : 24, block_width = m->pro ? 18 : 20;
  char where[96];
  if (t->len <= 0)
    broken("length", core, t, "there is nothing to transfer");
  if (t->bsize < 0 || t->stride < 0)
    broken("block", core, t, "blocks of %d bytes with gaps of %d", t->bsize, t->stride);
  if (t->len % 4 != 0 || t->bsize % 4 != 0 || t->stride % 4 != 0)
    broken("misaligned", core, t, "length, block and gap are multiples of 4 bytes");
  if ((uintptr_t)t->memory % 4 != 0)
    broken("misaligned", core, t, "%s is not at a multiple of 4", place(core, t->memory, where));
  if ((uintptr_t)t->local % 4 != 0)
    broken("misaligned", core, t, "%s is not at a multiple of 4", place(core, t->local, where));
  if (t->len >= 1 << width)
    broken("field-width", core, t, "the length field has %d bits", width);
  if (t->bsize >= 1 << block_width)
    broken("field-width", core, t, "the block field has %d bits", block_width);
  if (t->stride > 0 && t->bsize == 0)
    broken("block", core, t, "gaps need a block size");
  if (t->bsize > 0 && t->len % t->bsize != 0)
    broken("block", core, t, "the length is not a multiple of the block size");
}

static void check_local(struct core *core, const struct transfer *t)
{
  char where[96];
  ldm_check_null(core, t, t->local);
  if (!ldm_holds(core, t->local, (size_t)t->len))
    broken("not-in-ldm", core, t, "%s and %d bytes from there are not in the local memory of this core", place(core, t->local, where), t->len);
  if (ldm_of_heap(core, t->local)) {
    const struct piece *piece = ldm_piece(core, t->local);
    if (piece == NULL)
      broken("ldm-block", core, t, "%s is in no block that ldm_malloc has given, or in one given back", place(core, t->local, where));
    if (t->local + t->len > piece->first + (piece->wanted + 3) / 4 * 4)
      broken("ldm-block", core, t, "it runs over the end of a block of ldm_malloc, which has %zu bytes from %s", piece->wanted, place(core, piece->first, where));
  }
  for (const struct transfer *other = core->pending; other != NULL; other = other->next) {
    int reads_only = (t->kind == PUT || t->kind == RMA_PUT) && (other->kind == PUT || other->kind == RMA_PUT);
    if (!reads_only && t->local < other->local + other->len && other->local < t->local + t->len)
      broken("in-flight", core, t, "its local memory is that of transfer %u, which is still in flight", other->number);
  }
}

static int block_count(const struct transfer *t)
{
  return t->bsize > 0 ? t->len / t->bsize : 1;
}

/* From one block to the next. */
static size_t pitch(const struct transfer *t)
{
  return (size_t)(t->bsize > 0 ? t->bsize : t->len) + (size_t)t->stride;
}

static void check_memory(struct core *core, struct transfer *t)
{
  char where[96];
  if (is_local(t->memory))
    broken("not-in-memory", core, t, "%s is local memory, not main memory", place(core, t->memory, where));
  t->array = array_at(t->memory);
  if (t->array == NULL)
    broken("outside-array", core, t, "%p is in no array; %s", (void *)t->memory,
           of_heap(t->memory) ? "the heap has no block there, or no longer" : "what the host has on its stack or in globals is named with emulated_array");
  /* Blocks ascend, so that the last tells all. */
  size_t blocks = (size_t)block_count(t), block = t->bsize > 0 ? (size_t)t->bsize : (size_t)t->len;
  size_t offset = (size_t)(t->memory - t->array->first);
  for (size_t k = 0; k < blocks; k++) {
    if (offset + block > t->array->bytes)
      broken("outside-array", core, t, "block %zu of %zu, %zu bytes from %s+%zu, runs over the end of %s, which has %zu bytes", k + 1, blocks,
             block, t->array->name, offset, t->array->name, t->array->bytes);
    offset += pitch(t);
  }
}

/* The first byte from `from` on that a transfer's blocks have in main memory; null: none. */
static const char *next_of(const struct transfer *t, const char *from, const char **end)
{
  const size_t blocks = (size_t)block_count(t), block = t->bsize > 0 ? (size_t)t->bsize : (size_t)t->len;
  size_t k = from > t->memory ? (size_t)(from - t->memory) / pitch(t) : 0;
  if (from > t->memory && (size_t)(from - t->memory) - k * pitch(t) >= block)
    k++;
  if (k >= blocks)
    return NULL;
  const char *first = t->memory + k * pitch(t);
  *end = first + block;
  return first > from ? first : from;
}

static const char *memory_end(const struct transfer *t)
{
  return t->memory + (size_t)(block_count(t) - 1) * pitch(t) + (t->bsize > 0 ? t->bsize : t->len);
}

/* The machine's transfers are done in any order: of two in flight that meet in main memory, none may write. Races are looked for between cores; this is within one. */
static void check_in_flight(struct core *core, const struct transfer *t)
{
  const char *last = memory_end(t);
  for (const struct transfer *other = core->pending; other != NULL; other = other->next) {
    if (other->array == NULL || (t->kind == GET && other->kind == GET) || other->memory >= last || t->memory >= memory_end(other))
      continue;
    /* From block to block of the one and the other. */
    const char *at = t->memory > other->memory ? t->memory : other->memory, *mine, *theirs, *mine_end, *theirs_end;
    while ((mine = next_of(t, at, &mine_end)) != NULL && (theirs = next_of(other, mine, &theirs_end)) != NULL) {
      if (theirs < mine_end) {
        char where[96];
        broken("in-flight", core, t, "%s is in the %s of transfer %u too, which is still in flight: nothing says which of the two is done first",
               place(core, theirs, where), other->kind == GET ? "get" : "put", other->number);
      }
      at = theirs;
    }
  }
}

static void mark_races(struct core *core, const struct transfer *t)
{
  size_t blocks = (size_t)block_count(t), block = t->bsize > 0 ? (size_t)t->bsize : (size_t)t->len;
  for (size_t k = 0; k < blocks; k++)
    race_access(t->array, t->memory + k * pitch(t), block, core->id, core->clocks[core->id], core->clocks, t->kind == PUT, core, t);
}

static void count(struct core *core, struct transfer *t)
{
  struct report *report = &machine()->report;
  uint64_t blocks = (uint64_t)block_count(t), block = t->bsize > 0 ? (uint64_t)t->bsize : (uint64_t)t->len;
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

static struct transfer *queue(struct core *core, const struct transfer *form)
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
static uint64_t active(uint64_t set)
{
  int threads = machine()->threads;
  return threads == 64 ? set : set & ((UINT64_C(1) << threads) - 1);
}

/* What a core takes out was brought in, or written: local memory holds a mark until then (thread-local data hold zeros). */
static void check_written(const struct core *core, const struct transfer *t)
{
  char where[96];
  for (size_t k = 0; k < (size_t)t->len; k += 4)
    if (poisoned(t->local + k, 4))
      broken("never-written", core, t, "its source has words that were neither brought in nor written, or computed from such words; the first at %s", place(core, t->local + k, where));
}

static void issue(struct core *core, struct transfer *form)
{
  form->number = ++core->transfers;
  check_sizes(core, form);
  check_local(core, form);
  if (form->reply != NULL)
    check_reply(core, form, form->reply);
  check_memory(core, form);
  check_in_flight(core, form);
  if (form->kind == PUT)
    check_written(core, form);
  form->clock = core->clocks[core->id];
  mark_races(core, form);
  struct transfer *t = queue(core, form);
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

static void remote_accesses(struct core *core, const struct transfer *t)
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
  size_t blocks = (size_t)block_count(t), block = t->bsize > 0 ? (size_t)t->bsize : (size_t)t->len;
  if (t->kind == GET) {
    for (int i = 0; i < CORES; i++)
      if (t->targets >> i & 1)
        check_untouched(core, t, &m->cores[i], ldm_same(core, &m->cores[i], t->local));
    for (size_t k = 0; k < blocks; k++)
      memory_read(t->memory + k * pitch(t), t->local + k * block, block);
    for (int i = 0; i < CORES; i++)
      if (t->targets >> i & 1 && i != core->id)
        memcpy(ldm_same(core, &m->cores[i], t->local), t->local, (size_t)t->len);
    if (!(t->targets >> core->id & 1))
      poison(t->local, (size_t)t->len);
  } else {
    check_source(core, t);
    for (size_t k = 0; k < blocks; k++)
      memory_write(t->memory + k * pitch(t), t->local + k * block, block);
  }
  if (t->clock != core->clocks[core->id])
    mark_races(core, t);
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
    remote_accesses(core, t);
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

static void deliver(struct core *core, struct transfer *t)
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
      deliver(from, t);
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
  check_reply(core, NULL, reply);
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
    deliver(core, t);
  }
  maybe_switch(core);
  wait_rest(core, reply, value, reply_is);
  leave(core);
}

void emulated_wait_least(volatile void *given, int value)
{
  struct core *core = enter("CRTS_dma_wait_value", __builtin_frame_address(0));
  volatile int *reply = given;
  check_reply(core, NULL, reply);
  /* No more than are needed, and not in order: nothing says which are done. */
  int n;
  while (*reply < value && (n = pending_on(core, reply, NULL)) > 0) {
    int skip = (int)((machine()->random >> 20) % (uint64_t)n);
    struct transfer *t = core->pending;
    for (;; t = t->next)
      if (t->reply == reply && skip-- == 0)
        break;
    deliver(core, t);
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
    deliver(core, core->pending);
    maybe_switch(core);
  } else {
    /* Only another core's doing can end the loop: deliver what remote transfers there are, else it turns for ever. */
    struct machine *m = machine();
    int progress = 0;
    for (int i = 0; i < m->threads && !progress; i++)
      for (struct transfer *t = m->cores[i].pending; t != NULL && !progress; t = t->next)
        if (t->remote_reply != NULL && t->targets >> core->id & 1) {
          volatile int *reply = (volatile int *)(void *)ldm_same(&m->cores[i], core, (const void *)t->remote_reply);
          deliver(&m->cores[i], t);
          learn(core, reply);
          progress = 1;
        }
    if (!progress)
      wait_until(core, always, 0);
  }
  leave(core);
  return 1;
}

/* ---- commands ---- */

int athread_get(dma_mode mode, void *src, void *dest, int len, void *reply, char mask, int stride, int bsize)
{
  struct core *core = enter("athread_get", __builtin_frame_address(0));
  struct transfer t = {.kind = GET, .memory = src, .local = dest, .len = len, .bsize = bsize, .stride = stride, .reply = reply};
  uint64_t own = UINT64_C(1) << core->id;
  int row = core->id / 8;
  switch (mode) {
  case PE_MODE:
    t.targets = own;
    break;
  case BCAST_MODE:
    for (int r = 0; r < 8; r++)
      if (mask >> r & 1)
        t.targets |= UINT64_C(0xff) << 8 * r;
    t.targets = active(t.targets);
    if (t.targets == 0)
      broken("mode", core, NULL, "a broadcast with the mask 0x%x reaches no core of this group", (unsigned)(unsigned char)mask);
    break;
  case BROW_MODE:
    t.targets = active(UINT64_C(0xff) << 8 * row);
    break;
  default:
    broken("mode", core, NULL, "athread_get in ROW_MODE or RANK_MODE is not emulated");
  }
  issue(core, &t);
  leave(core);
  return 0;
}

int athread_put(dma_mode mode, void *src, void *dest, int len, void *reply, int stride, int bsize)
{
  struct core *core = enter("athread_put", __builtin_frame_address(0));
  struct transfer t = {.kind = PUT, .memory = dest, .local = src, .len = len, .bsize = bsize, .stride = stride, .reply = reply};
  t.targets = UINT64_C(1) << core->id;
  if (mode != PE_MODE)
    broken("mode", core, NULL, "athread_put is emulated in PE_MODE only");
  issue(core, &t);
  leave(core);
  return 0;
}

static void only_pro(struct core *core, const char *what)
{
  if (!machine()->pro)
    broken("chip", core, NULL, "%s is of SW26010Pro (ATHREAD_CHIP=sw26010pro)", what);
}

void emulated_dma(int put, void *memory, void *local, int len, int bsize, int stride, crts_rply_t *reply)
{
  struct core *core = enter("CRTS_dma", __builtin_frame_address(0));
  only_pro(core, "CRTS_dma");
  struct transfer t = {.kind = put ? PUT : GET, .memory = memory, .local = local, .len = len, .bsize = bsize, .stride = stride};
  t.reply = reply;
  t.targets = UINT64_C(1) << core->id;
  issue(core, &t);
  if (reply == NULL) {
    struct transfer *last = core->pending;
    while (last->next != NULL)
      last = last->next;
    deliver(core, last);
  }
  leave(core);
}

static void issue_remote(struct core *core, struct transfer *t)
{
  struct machine *m = machine();
  t->number = ++core->transfers;
  check_sizes(core, t);
  check_local(core, t);
  if (t->reply != NULL)
    check_reply(core, t, t->reply);
  if (t->remote_reply != NULL)
    check_reply(core, t, t->remote_reply);
  if (!ldm_holds(core, t->memory, (size_t)t->len))
    broken("not-in-ldm", core, t, "the remote side is not local memory: it is given as an address of the same place in this core");
  t->clock = core->clocks[core->id];
  remote_accesses(core, t);
  struct transfer *queued = queue(core, t);
  m->report.bytes_remote += (uint64_t)t->len;
  queued->event = record_issue(core, t->len, t->len, 0, 1);
  if (t->kind == RMA_GET)
    poison(t->local, (size_t)t->len);
  else
    for (int i = 0; i < CORES; i++)
      if (t->targets >> i & 1 && ldm_same(core, &m->cores[i], t->memory) != t->local)
        poison(ldm_same(core, &m->cores[i], t->memory), (size_t)t->len);
}

void emulated_rma(int put, void *local, crts_rply_t *local_reply, int len, int peer, void *remote, crts_rply_t *remote_reply)
{
  struct core *core = enter("CRTS_rma", __builtin_frame_address(0));
  only_pro(core, "CRTS_rma");
  if (peer < 0 || peer >= machine()->threads || peer == core->id)
    broken("target", core, NULL, "a remote transfer to core %d", peer);
  struct transfer t = {.kind = put ? RMA_PUT : RMA_GET, .memory = remote, .local = local, .len = len, .peer = peer, .reply = local_reply};
  t.remote_reply = remote_reply;
  t.targets = UINT64_C(1) << peer;
  issue_remote(core, &t);
  leave(core);
}

/* The cores of a broadcast; those of a line must all take part. */
static uint64_t group(const struct core *core, int along_row)
{
  if (along_row < 0)
    return active(~UINT64_C(0));
  uint64_t line = along_row ? UINT64_C(0xff) << core->id / 8 * 8 : UINT64_C(0x0101010101010101) << core->id % 8;
  for (int i = 0; i < CORES; i++)
    if (line >> i & 1 && !(active(line) >> i & 1))
      broken("target", core, NULL, "a broadcast along a %s, and core %d takes no part", along_row ? "row" : "column", i);
  return line;
}

void emulated_rma_broadcast(int along_row, int itself, void *dest, void *src, int len, crts_rply_t *local_reply, crts_rply_t *remote_reply)
{
  struct core *core = enter("CRTS_rma broadcast", __builtin_frame_address(0));
  only_pro(core, "CRTS_rma");
  struct transfer t = {.kind = RMA_PUT, .memory = dest, .local = src, .len = len, .peer = -1, .reply = local_reply};
  t.remote_reply = remote_reply;
  t.targets = group(core, along_row);
  if (!itself)
    t.targets &= ~(UINT64_C(1) << core->id);
  issue_remote(core, &t);
  leave(core);
}

void emulated_rma_collective(int along_row, void *dest, void *src, int len, int root)
{
  scope which = along_row < 0 ? ARRAY_SCOPE : along_row ? ROW_SCOPE : COL_SCOPE;
  int mask = along_row < 0 ? 0xffff : 0xff;
  if (this_core() != NULL) {
    this_core()->collective = 0;
    this_core()->collective_root = root;
    this_core()->collective_len = len;
  }
  athread_syn(which, mask);
  struct core *core = enter("CRTS_rma collective", __builtin_frame_address(0));
  only_pro(core, "CRTS_rma");
  uint64_t line = group(core, along_row);
  for (int i = 0; i < CORES; i++) {
    const struct core *other = &machine()->cores[i];
    if (line >> i & 1 && (other->collective_root != root || other->collective_len != len))
      broken("target", core, NULL, "a broadcast of %d bytes from core %d along a %s, and core %d takes part in one of %d bytes from core %d", len, root,
             along_row < 0 ? "group" : along_row ? "row" : "column", i, other->collective_len, other->collective_root);
  }
  int place_here = along_row < 0 ? core->id : along_row ? core->id % 8 : core->id / 8;
  if (place_here == root) {
    struct transfer t = {.kind = RMA_PUT, .memory = dest, .local = src, .len = len, .peer = -1};
    t.targets = group(core, along_row);
    issue_remote(core, &t);
    struct transfer *last = core->pending;
    while (last->next != NULL)
      last = last->next;
    for (int i = 0; i < CORES; i++)
      if (t.targets >> i & 1)
        machine()->cores[i].collective = last->event + 1;
    deliver(core, last);
  }
  leave(core);
  athread_syn(which, mask);
  core = enter("CRTS_rma collective", __builtin_frame_address(0));
  if (core->collective == 0)
    broken("target", core, NULL, "a broadcast along a %s without core %d of it", along_row ? "row" : "column", root);
  record(core, RECEIVE, core->collective - 1, 0, 0);
  leave(core);
}

unsigned long emulated_cycles(void)
{
  struct core *core = enter("rpcc", __builtin_frame_address(0));
  unsigned long cycles = (unsigned long)core->stated_cycles;
  leave(core);
  return cycles;
}

void emulated_misaligned(const void *address, unsigned multiple)
{
  char where[96];
  broken("misaligned", this_core(), NULL, "a vector is loaded or stored at %s, not a multiple of %u bytes", place(this_core(), address, where),
         multiple);
}
