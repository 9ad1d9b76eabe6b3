/* Races: for each element of an array, who wrote it last and who has read it since, as numbers of a core and of its clock.
 *
 * A core's clock goes up when others may learn what it did: at barriers, sends, spawn. `knows[c]` is the clock of core c up to which what
 * it did is before what we do now. Two readers that do not know of each other are kept; a third adds nothing, since any writer is then in
 * conflict with one of the two.
 */
#include "emulator.h"

#include <sys/mman.h>

enum { WRITER, READER, SECOND_READER, SLOTS };

static const uint32_t clock_mask = (UINT32_C(1) << 25) - 1;

static uint32_t mark(int who, uint32_t clock)
{
  return (uint32_t)who << 25 | (clock & clock_mask);
}

static int before(uint32_t mark, int who, const uint32_t *knows)
{
  int other = (int)(mark >> 25);
  return mark == 0 || other == who || (mark & clock_mask) <= knows[other];
}

__attribute__((noreturn)) static void race(struct array *array, size_t k, uint32_t other, int wrote, int write, const struct core *core,
                                           const struct transfer *transfer)
{
  char who[32], where[96];
  int number = (int)(other >> 25);
  if (number == HOST)
    snprintf(who, sizeof who, "the host");
  else
    snprintf(who, sizeof who, "core %d", number);
  broken(number == HOST || core == NULL ? "host-access" : "race", core, transfer, "%s %s, which %s has %s, and nothing orders the two",
         write ? "writes" : "reads", place(core, array->first + k * array->element, where), who, wrote ? "written" : "read");
}

void race_access(struct array *array, char *first, size_t bytes, int who, uint32_t clock, const uint32_t *knows, int write,
                 const struct core *core, const struct transfer *transfer)
{
  struct machine *m = machine();
  size_t element = array->element;
  if (array->shadow == NULL) {
    array->shadow_bytes = (array->bytes + element - 1) / element * SLOTS * sizeof array->shadow[0];
    void *map = mmap(NULL, array->shadow_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (map == MAP_FAILED)
      broken("memory", NULL, NULL, "no memory for the shadow of array %s", array->name);
    madvise(map, array->shadow_bytes, MADV_HUGEPAGE); /* for speed alone */
    array->shadow = map;
  }
  size_t from = (size_t)(first - array->first) / element;
  size_t to = ((size_t)(first - array->first) + bytes + element - 1) / element;
  uint32_t mine = mark(who, clock);
  const size_t counted = array->workspace ? 0 : element;
  for (size_t k = from; k < to; k++) {
    uint32_t *slot = array->shadow + SLOTS * k;
    if (!before(slot[WRITER], who, knows))
      race(array, k, slot[WRITER], 1, write, core, transfer);
    if (write) {
      for (int reader = READER; reader <= SECOND_READER; reader++)
        if (!before(slot[reader], who, knows))
          race(array, k, slot[reader], 0, write, core, transfer);
      if (slot[WRITER] == 0)
        m->report.unique_written += counted;
      slot[WRITER] = mine;
    } else {
      if (slot[READER] == 0)
        m->report.unique_read += counted;
      if (before(slot[READER], who, knows))
        slot[READER] = mine;
      else if (before(slot[SECOND_READER], who, knows))
        slot[SECOND_READER] = mine;
    }
  }
}
