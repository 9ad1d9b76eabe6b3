/* What a transfer has to be when it is issued: its sizes, its places, and what is in flight beside it. */
#include "emulator.h"

void transfer_check_reply(struct core *core, const struct transfer *t, const volatile int *reply)
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

void transfer_check_sizes(struct core *core, const struct transfer *t)
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

void transfer_check_local(struct core *core, const struct transfer *t)
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

int transfer_blocks(const struct transfer *t)
{
  return t->bsize > 0 ? t->len / t->bsize : 1;
}

/* From one block to the next. */
size_t transfer_pitch(const struct transfer *t)
{
  return (size_t)(t->bsize > 0 ? t->bsize : t->len) + (size_t)t->stride;
}

void transfer_check_memory(struct core *core, struct transfer *t)
{
  char where[96];
  if (is_local(t->memory))
    broken("not-in-memory", core, t, "%s is local memory, not main memory", place(core, t->memory, where));
  t->array = array_at(t->memory);
  if (t->array == NULL)
    broken("outside-array", core, t, "%p is in no array; %s", (void *)t->memory,
           of_heap(t->memory) ? "the heap has no block there, or no longer" : "what the host has on its stack or in globals is named with emulated_array");
  /* Blocks ascend, so that the last tells all. */
  size_t blocks = (size_t)transfer_blocks(t), block = t->bsize > 0 ? (size_t)t->bsize : (size_t)t->len;
  size_t offset = (size_t)(t->memory - t->array->first);
  for (size_t k = 0; k < blocks; k++) {
    if (offset + block > t->array->bytes)
      broken("outside-array", core, t, "block %zu of %zu, %zu bytes from %s+%zu, runs over the end of %s, which has %zu bytes", k + 1, blocks,
             block, t->array->name, offset, t->array->name, t->array->bytes);
    offset += transfer_pitch(t);
  }
}

/* The first byte from `from` on that a transfer's blocks have in main memory; null: none. */
static const char *next_of(const struct transfer *t, const char *from, const char **end)
{
  const size_t blocks = (size_t)transfer_blocks(t), block = t->bsize > 0 ? (size_t)t->bsize : (size_t)t->len;
  size_t k = from > t->memory ? (size_t)(from - t->memory) / transfer_pitch(t) : 0;
  if (from > t->memory && (size_t)(from - t->memory) - k * transfer_pitch(t) >= block)
    k++;
  if (k >= blocks)
    return NULL;
  const char *first = t->memory + k * transfer_pitch(t);
  *end = first + block;
  return first > from ? first : from;
}

static const char *memory_end(const struct transfer *t)
{
  return t->memory + (size_t)(transfer_blocks(t) - 1) * transfer_pitch(t) + (t->bsize > 0 ? t->bsize : t->len);
}

/* The machine's transfers are done in any order: of two in flight that meet in main memory, none may write. Races are looked for between cores; this is within one. */
void transfer_check_in_flight(struct core *core, const struct transfer *t)
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

void transfer_mark_races(struct core *core, const struct transfer *t)
{
  size_t blocks = (size_t)transfer_blocks(t), block = t->bsize > 0 ? (size_t)t->bsize : (size_t)t->len;
  for (size_t k = 0; k < blocks; k++)
    race_access(t->array, t->memory + k * transfer_pitch(t), block, core->id, core->clocks[core->id], core->clocks, t->kind == PUT, core, t);
}

/* What a core takes out was brought in, or written: local memory holds a mark until then (thread-local data hold zeros). */
void transfer_check_written(const struct core *core, const struct transfer *t)
{
  char where[96];
  for (size_t k = 0; k < (size_t)t->len; k += 4)
    if (poisoned(t->local + k, 4))
      broken("never-written", core, t, "its source has words that were neither brought in nor written, or computed from such words; the first at %s", place(core, t->local + k, where));
}
