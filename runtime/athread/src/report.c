/* What a run did, as text or as JSON, when the program ends. Times are modelled, never measured. */
#include "emulator.h"

#include <stdlib.h>
#include <string.h>

static const double core_peak = 11.6e9;   /* flop/s */
static const double memory_peak = 20.9e9; /* bytes/s: the most that the model gives */

struct bound {
  double seconds, compute, memory;
};

static struct bound roofline(const struct machine *m)
{
  struct bound bound;
  bound.compute = m->report.operations / (core_peak * m->threads);
  bound.memory = (double)(m->report.unique_read + m->report.unique_written) / memory_peak;
  bound.seconds = bound.compute > bound.memory ? bound.compute : bound.memory;
  return bound;
}

static double share(double part, double whole)
{
  return whole > 0 ? part / whole : 0;
}

static void as_json(const struct machine *m, FILE *out)
{
  const struct report *r = &m->report;
  struct bound bound = roofline(m);
  fprintf(out, "{\n  \"chip\": \"%s\",\n  \"threads\": %d,\n  \"spawns\": %llu,\n", m->pro ? "sw26010pro" : "sw26010", m->threads,
          (unsigned long long)r->spawns);
  fprintf(out, "  \"modelled_seconds\": %.9g,\n  \"compute_seconds\": %.9g,\n  \"transfer_stall_seconds\": %.9g,\n", r->seconds, r->compute,
          r->stall_transfer);
  fprintf(out, "  \"sync_stall_seconds\": %.9g,\n  \"stall_share\": %.6f,\n", r->stall_sync,
          share(r->stall_transfer + r->stall_sync, r->seconds));
  fprintf(out, "  \"flops\": %.17g,\n  \"bytes_get\": %llu,\n  \"bytes_put\": %llu,\n  \"bytes_remote\": %llu,\n", r->operations,
          (unsigned long long)r->bytes_get, (unsigned long long)r->bytes_put, (unsigned long long)r->bytes_remote);
  fprintf(out, "  \"unique_bytes_read\": %llu,\n  \"unique_bytes_written\": %llu,\n", (unsigned long long)r->unique_read,
          (unsigned long long)r->unique_written);
  fprintf(out, "  \"commands\": %llu,\n  \"blocks\": %llu,\n  \"unaligned_commands\": %llu,\n  \"block_histogram\": [", (unsigned long long)r->commands,
          (unsigned long long)r->blocks, (unsigned long long)r->unaligned);
  const char *comma = "";
  for (int k = 0; k < BUCKETS; k++)
    if (r->bucket_blocks[k] > 0) {
      fprintf(out, "%s\n    {\"bytes_from\": %llu, \"blocks\": %llu, \"bytes\": %llu}", comma, 1ULL << k, (unsigned long long)r->bucket_blocks[k],
              (unsigned long long)r->bucket_bytes[k]);
      comma = ",";
    }
  fprintf(out, "%s],\n  \"ldm_peak\": %zu,\n  \"ldm_thread_local\": %zu,\n  \"ldm_stack\": %zu,\n  \"ldm_malloc\": %zu,\n  \"ldm_capacity\": %zu,\n",
          *comma != '\0' ? "\n  " : "", r->ldm_peak, r->ldm_static, r->stack_peak, r->heap_peak, m->capacity);
  fprintf(out, "  \"barriers\": %llu,\n  \"messages\": %llu,\n  \"direct_accesses\": %llu,\n", (unsigned long long)r->barriers,
          (unsigned long long)r->messages, (unsigned long long)r->direct);
  fprintf(out, "  \"compute_bound_seconds\": %.9g,\n  \"memory_bound_seconds\": %.9g,\n  \"bound_seconds\": %.9g,\n  \"bound_share\": %.6f\n}\n",
          bound.compute, bound.memory, bound.seconds, share(bound.seconds, r->seconds));
}

static void as_text(const struct machine *m, FILE *out)
{
  const struct report *r = &m->report;
  struct bound bound = roofline(m);
  double moved = (double)(r->bytes_get + r->bytes_put), least = (double)(r->unique_read + r->unique_written);
  fprintf(out, "athread emulator: %s, %d cores, %llu spawns (times are modelled)\n", m->pro ? "SW26010Pro" : "SW26010", m->threads,
          (unsigned long long)r->spawns);
  fprintf(out, "  time        %.6g s: computing %.1f %%, waiting for transfers %.1f %%, for cores %.1f %%\n", r->seconds,
          100 * share(r->compute, r->seconds), 100 * share(r->stall_transfer, r->seconds), 100 * share(r->stall_sync, r->seconds));
  fprintf(out, "  bound       %.6g s by roofline (%s): %.1f %% of it reached\n", bound.seconds,
          bound.compute > bound.memory ? "computing" : "memory", 100 * share(bound.seconds, r->seconds));
  fprintf(out, "  operations  %.6g flop, %.4g Gflop/s\n", r->operations, share(r->operations, r->seconds) / 1e9);
  fprintf(out, "  traffic     %.0f bytes in %llu commands, %.2f times what is touched (%.0f)\n", moved, (unsigned long long)r->commands,
          share(moved, least), least);
  if (r->bytes_remote > 0)
    fprintf(out, "  remote      %llu bytes between cores\n", (unsigned long long)r->bytes_remote);
  fprintf(out, "  LDM         %zu of %zu bytes: thread-local %zu, stack %zu, ldm_malloc %zu at most\n", r->ldm_peak, m->capacity, r->ldm_static,
          r->stack_peak, r->heap_peak);
  fprintf(out, "  barriers    %llu; words sent %llu; direct accesses %llu\n", (unsigned long long)r->barriers, (unsigned long long)r->messages,
          (unsigned long long)r->direct);
  for (int k = 0; k < BUCKETS; k++)
    if (r->bucket_blocks[k] > 0)
      fprintf(out, "  blocks of   %8llu bytes and more: %10llu, %.1f %% of the bytes\n", 1ULL << k, (unsigned long long)r->bucket_blocks[k],
              100 * share((double)r->bucket_bytes[k], moved));
}

void report_write(struct machine *m)
{
  const char *form = getenv("ATHREAD_REPORT"), *path = getenv("ATHREAD_REPORT_FILE");
  if (m->report.spawns == 0 || form == NULL || strcmp(form, "none") == 0 || *form == '\0')
    return;
  FILE *out = path != NULL && *path != '\0' ? fopen(path, "w") : stderr;
  if (out == NULL) {
    perror(path);
    return;
  }
  if (strcmp(form, "json") == 0)
    as_json(m, out);
  else
    as_text(m, out);
  if (out != stderr)
    fclose(out);
}
