/* A simulation by SimGrid's SMPI: arrays have no memory, messages no content, and what ranks compute
 * and copy takes the time of a model. Sizes, blocks and messages are those of the real program.
 *
 * LZ_OPERATIONS: operations that a rank does in a second. LZ_MEMORY: bytes that it moves in one. */
#ifndef LOZENGE_SIMULATED_H
#define LOZENGE_SIMULATED_H

#include <smpi/smpi.h>

/* Memory for messages: the same for all, also for all ranks, which are threads of one process. Its
 * pages are shared, and SMPI does not copy between them. */
static char *lz_phantom;
static size_t lz_phantom_bytes;

static void *lz_allocate(const struct lz_grid *grid, size_t bytes)
{
    (void)grid;
    if (bytes > lz_phantom_bytes) {
        /* What was there may be on its way. */
        lz_phantom_bytes = 2 * bytes > ((size_t)1 << 20) ? 2 * bytes : (size_t)1 << 20;
        lz_phantom = SMPI_SHARED_MALLOC(lz_phantom_bytes);
    }
    return lz_phantom;
}

/* Arrays and buffers are not looked at. */
static void *lz_hold(const struct lz_grid *grid, size_t bytes)
{
    (void)grid;
    (void)bytes;
    return NULL;
}

static void lz_free(void *memory) { (void)memory; }

#define LZ_PLACE(data, done) ((void)(done), (data))

/* Lets time pass. Seconds that are too short to be an event of their own pass with later ones. */
static void lz_pass(struct lz_grid *grid, double seconds)
{
    grid->owed += seconds;
    if (grid->owed > 1e-7) {
        smpi_execute_flops(grid->owed * LZ_OPERATIONS);
        grid->owed = 0;
    }
}

/* Charges loops that do so many operations and move so many bytes from and to memory: the longer of
 * both. */
LZ_UNUSED static void lz_charge(struct lz_grid *grid, double operations, double bytes)
{
    double compute = operations / LZ_OPERATIONS, move = bytes / LZ_MEMORY;
    double seconds = compute > move ? compute : move;
    grid->computed += seconds;
    lz_pass(grid, seconds);
}

/* Iterations of a loop that are looked at, if bounds in it depend on its variable: all, or some in
 * equal distances. */
#define LZ_SAMPLES 64
LZ_UNUSED static int64_t lz_sampled(int64_t trips) { return trips < LZ_SAMPLES ? trips : LZ_SAMPLES; }
LZ_UNUSED static int64_t lz_sample(int64_t trips, int64_t k)
{
    return trips <= LZ_SAMPLES ? k : (2 * k + 1) * trips / (2 * LZ_SAMPLES);
}
LZ_UNUSED static int64_t lz_trips(int64_t low, int64_t high, int64_t step)
{
    return high > low ? (high - low + step - 1) / step : 0;
}

#endif
