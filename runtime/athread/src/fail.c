/* Messages: which core, which transfer, which address, which rule. */
#include "emulator.h"

#include <stdarg.h>
#include <string.h>
#include <unistd.h>

const char *place(const struct core *core, const void *address, char *text)
{
  const char *at = address;
  const struct machine *m = machine();
  for (int i = 0; i < CORES; i++) {
    const struct core *other = &m->cores[i];
    if (other->stack == NULL || at < other->heap || at >= other->stack_end)
      continue;
    char whose[24] = "";
    if (core == NULL || other->id != core->id)
      snprintf(whose, sizeof whose, "core %d's ", i);
    if (at < other->heap_end)
      snprintf(text, 96, "%sLDM ldm_malloc+%zu", whose, (size_t)(at - other->heap));
    else if (at < other->base)
      snprintf(text, 96, "%sLDM stack-%zu", whose, (size_t)(other->base - at));
    else if (other->thread_local_data != NULL && at >= other->thread_local_data && at < other->thread_local_data + m->static_bytes)
      snprintf(text, 96, "%sLDM thread-local+%zu", whose, (size_t)(at - other->thread_local_data));
    else
      break;
    return text;
  }
  const struct array *array = array_at(address);
  if (array != NULL)
    snprintf(text, 96, "%s+%zu", array->name, (size_t)(at - array->first));
  else
    snprintf(text, 96, "%p", address);
  return text;
}

void broken(const char *rule, const struct core *core, const struct transfer *transfer, const char *form, ...)
{
  /* In one piece, so that cores that fail at the same time do not mix their words. */
  char message[2048];
  size_t used = 0;
#define ADD(...) (used += (size_t)snprintf(message + used, used < sizeof message ? sizeof message - used : 0, __VA_ARGS__), used = used < sizeof message ? used : sizeof message - 1)
  ADD("athread: ");
  if (core != NULL)
    ADD("core %d (row %d, column %d): ", core->id, core->id / 8, core->id % 8);
  else
    ADD("host: ");
  if (transfer != NULL) {
    static const char *const names[] = {"get", "put", "remote put", "remote get"};
    char memory[96], local[96];
    const char *from = place(core, transfer->memory, memory), *to = place(core, transfer->local, local);
    int put = transfer->kind == PUT || transfer->kind == RMA_PUT;
    ADD("transfer %u, %s of %d bytes", transfer->number, names[transfer->kind], transfer->len);
    if (transfer->bsize != 0 || transfer->stride != 0)
      ADD(" in blocks of %d with gaps of %d", transfer->bsize, transfer->stride);
    ADD(" from %s to %s: ", put ? to : from, put ? from : to);
  }
  va_list arguments;
  va_start(arguments, form);
  used += (size_t)vsnprintf(message + used, sizeof message - used, form, arguments);
  va_end(arguments);
  used = used < sizeof message ? used : sizeof message - 1;
  ADD(" [%s]\n", rule);
  fflush(stdout);
  ssize_t written = write(2, message, used);
  (void)written;
  _exit(EXIT_BROKEN_RULE);
}
