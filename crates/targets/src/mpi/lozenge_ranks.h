/* What programs for several ranks need at run time: grids, blocks, memory, boxes, errors.
 *
 * A dimension of an array that is cut along an axis of the grid of ranks is dealt out in blocks of
 * `width` subscripts: block k goes from k * width to (k + 1) * width, and belongs to the ranks whose
 * coordinate on that axis is k mod the extent of the axis. */
#ifndef LOZENGE_RANKS_H
#define LOZENGE_RANKS_H

#include <limits.h>
#include <mpi.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LZ_DIMS 8
#define LZ_UNUSED __attribute__((unused))

/* A grid of ranks. Ranks are numbered along the last axis first. */
struct lz_grid {
    MPI_Comm comm;
    int rank, ranks, axes;
    int extent[2];
    int64_t messages, bytes, received; /* sent by this rank, and bytes that came to it */
    int flights;                       /* fetches that were begun */
    double owed, computed;             /* in a simulation: seconds to be charged, and those of loops */
};

/* One dimension of an array. */
struct lz_dim {
    int64_t extent;
    int axis;          /* -1: not cut */
    int64_t width;     /* of a block */
    int one_block;     /* whether no rank has two */
    int64_t low, high; /* elements of neighbours before and after the block */
    int64_t origin;    /* the first subscript that is stored, if there is one block */
    int64_t held;      /* subscripts that are stored */
};

/* An array as a rank holds it. */
struct lz_array {
    const char *name;
    size_t size; /* bytes of an element */
    int dims;
    struct lz_dim dim[LZ_DIMS];
    char *data;
    int owned; /* whether `data` was allocated here */
};

/* A box that was fetched. */
struct lz_buffer {
    char *data;
    size_t capacity;
    int64_t origin[LZ_DIMS], held[LZ_DIMS];
};

/* Ends all ranks with a message. */
LZ_UNUSED static void lz_fail(const struct lz_grid *grid, const char *format, ...)
{
    va_list arguments;
    fprintf(stderr, "rank %d of %d: ", grid->rank, grid->ranks);
    va_start(arguments, format);
    vfprintf(stderr, format, arguments);
    va_end(arguments);
    fputc('\n', stderr);
    fflush(stderr);
    MPI_Abort(grid->comm, 1);
    exit(1);
}

#ifdef LOZENGE_SIMULATED
#include "lozenge_simulated.h"
#else
/* Memory of messages, and of arrays and buffers. */
static void *lz_allocate(const struct lz_grid *grid, size_t bytes)
{
    void *memory = NULL;
    if (posix_memalign(&memory, 64, bytes ? bytes : 64))
        lz_fail(grid, "no memory for %zu bytes", bytes);
    return memory;
}

static void lz_free(void *memory) { free(memory); }

static void *lz_hold(const struct lz_grid *grid, size_t bytes) { return lz_allocate(grid, bytes); }

#define LZ_PLACE(data, done) ((data) + (done))
#endif

LZ_UNUSED static int64_t lz_min(int64_t a, int64_t b) { return a < b ? a : b; }
LZ_UNUSED static int64_t lz_max(int64_t a, int64_t b) { return a > b ? a : b; }

/* Quotient rounded down; 0 where the divisor is 0. */
LZ_UNUSED static int64_t lz_floordiv(int64_t a, int64_t b)
{
    if (b == 0)
        return 0;
    int64_t q = a / b;
    return a % b != 0 && (a % b < 0) != (b < 0) ? q - 1 : q;
}

LZ_UNUSED static int64_t lz_mod(int64_t a, int64_t b) { return b == 0 ? a : a - b * lz_floordiv(a, b); }
LZ_UNUSED static int64_t lz_div(int64_t a, int64_t b) { return b == 0 ? 0 : a / b; }
LZ_UNUSED static int64_t lz_rem(int64_t a, int64_t b) { return b == 0 ? a : a % b; }

static int lz_coordinate(const struct lz_grid *grid, int rank, int axis)
{
    if (grid->axes == 1)
        return rank;
    return axis == 0 ? rank / grid->extent[1] : rank % grid->extent[1];
}

/* A grid of these extents; 0 where MPI may choose. */
LZ_UNUSED static struct lz_grid lz_grid_of(MPI_Comm comm, int axes, int rows, int columns)
{
    struct lz_grid grid = { .comm = comm, .ranks = 1, .axes = axes, .extent = { rows, columns } };
    MPI_Comm_rank(comm, &grid.rank);
    MPI_Comm_size(comm, &grid.ranks);
    if (axes == 1)
        grid.extent[1] = 1;
    if (rows < 0 || columns < 0 || (rows > 0 && grid.ranks % rows != 0)
        || (grid.extent[1] > 0 && grid.ranks % grid.extent[1] != 0)
        || (rows > 0 && grid.extent[1] > 0 && (int64_t)rows * grid.extent[1] != grid.ranks))
        lz_fail(&grid, "a grid of %d x %d does not have %d ranks", rows, axes == 1 ? 1 : columns, grid.ranks);
    MPI_Dims_create(grid.ranks, 2, grid.extent);
    return grid;
}

/* The width of blocks that give each of the ranks along an axis at most one. */
LZ_UNUSED static int64_t lz_width(const struct lz_grid *grid, int axis, int64_t extent)
{
    int64_t ranks = grid->extent[axis];
    int64_t width = extent > 0 ? (extent + ranks - 1) / ranks : 1;
    return width > 1 ? width : 1;
}

/* How many blocks a coordinate has; one that has none gets an empty one at the end. */
LZ_UNUSED static int64_t lz_blocks(const struct lz_grid *grid, int axis, int64_t extent, int64_t width, int rank)
{
    int64_t first = lz_coordinate(grid, rank, axis) * width;
    if (first >= extent)
        return 1;
    return (extent - first - 1) / (width * grid->extent[axis]) + 1;
}

/* The first subscript of a block of a rank, and the end. */
LZ_UNUSED static int64_t lz_block_low(const struct lz_grid *grid, int axis, int64_t extent, int64_t width, int rank, int64_t k)
{
    int64_t first = lz_coordinate(grid, rank, axis) * width;
    return first >= extent ? lz_max(extent, 0) : first + k * width * grid->extent[axis];
}

LZ_UNUSED static int64_t lz_block_high(const struct lz_grid *grid, int axis, int64_t extent, int64_t width, int rank, int64_t k)
{
    int64_t low = lz_block_low(grid, axis, extent, width, rank, k);
    return lz_min(low + width, lz_max(extent, 0));
}

/* Elements of an array that are stored, checked against overflow. */
static size_t lz_elements(const struct lz_grid *grid, const char *name, int dims, const int64_t *held, size_t size)
{
    size_t elements = 1;
    for (int d = 0; d < dims; d++) {
        size_t extent = (size_t)lz_max(held[d], 0);
        if (extent != 0 && elements > (size_t)PTRDIFF_MAX / size / extent)
            lz_fail(grid, "the part of `%s` that a rank holds is too large for its memory", name);
        elements *= extent;
    }
    return elements;
}

static size_t lz_stored(const struct lz_grid *grid, const struct lz_array *array)
{
    int64_t held[LZ_DIMS];
    for (int d = 0; d < array->dims; d++)
        held[d] = array->dim[d].held;
    return lz_elements(grid, array->name, array->dims, held, array->size);
}

/* Decides what this rank stores of an array. */
LZ_UNUSED static void lz_place(const struct lz_grid *grid, struct lz_array *array)
{
    for (int d = 0; d < array->dims; d++) {
        struct lz_dim *dim = &array->dim[d];
        dim->extent = lz_max(dim->extent, 0);
        dim->origin = 0;
        dim->held = dim->extent;
        if (dim->axis < 0)
            continue;
        int64_t blocks = lz_blocks(grid, dim->axis, dim->extent, dim->width, grid->rank);
        int64_t low = lz_block_low(grid, dim->axis, dim->extent, dim->width, grid->rank, 0);
        if (dim->one_block) {
            int64_t high = lz_block_high(grid, dim->axis, dim->extent, dim->width, grid->rank, 0);
            dim->origin = lz_max(low - dim->low, 0);
            dim->held = lz_min(high + dim->high, dim->extent) - dim->origin;
        } else {
            int64_t high = lz_block_high(grid, dim->axis, dim->extent, dim->width, grid->rank, blocks - 1);
            int64_t last = lz_block_low(grid, dim->axis, dim->extent, dim->width, grid->rank, blocks - 1);
            dim->held = (blocks - 1) * dim->width + (high - last);
        }
    }
    lz_stored(grid, array);
}

LZ_UNUSED static void lz_make(const struct lz_grid *grid, struct lz_array *array)
{
    lz_place(grid, array);
    array->data = lz_hold(grid, lz_stored(grid, array) * array->size);
    array->owned = 1;
}

LZ_UNUSED static void lz_drop(struct lz_array *array)
{
    if (array->owned)
        lz_free(array->data);
    array->data = NULL;
    array->owned = 0;
}

/* Where a subscript is stored. */
static int64_t lz_index(const struct lz_grid *grid, const struct lz_dim *dim, int64_t at)
{
    if (dim->axis >= 0 && !dim->one_block)
        return at / (dim->width * grid->extent[dim->axis]) * dim->width + at % dim->width;
    return at - dim->origin;
}

/* How far the pointer to an array is moved so that its first element is that of a block. */
LZ_UNUSED static int64_t lz_shift(const struct lz_grid *grid, const struct lz_array *array, int d, int64_t low)
{
    const struct lz_dim *dim = &array->dim[d];
    if (low >= dim->extent)
        return 0;
    int64_t shift = lz_index(grid, dim, low);
    for (int inner = d + 1; inner < array->dims; inner++)
        shift *= array->dim[inner].held;
    return shift;
}

/* The next subscripts in `from .. to` that a coordinate owns; 0 if there are none. */
static int lz_next(const struct lz_grid *grid, const struct lz_dim *dim, int coordinate, int64_t from, int64_t to,
                   int64_t *low, int64_t *high)
{
    from = lz_max(from, 0);
    to = lz_min(to, dim->extent);
    if (from >= to)
        return 0;
    if (dim->axis < 0) {
        *low = from;
        *high = to;
        return 1;
    }
    int64_t ranks = grid->extent[dim->axis], block = from / dim->width;
    int64_t ahead = (coordinate - block % ranks + ranks) % ranks;
    *low = ahead == 0 ? from : (block + ahead) * dim->width;
    *high = lz_min((block + ahead + 1) * dim->width, to);
    return *low < to;
}

/* How many subscripts of a range a rank owns. */
static int64_t lz_owned_of(const struct lz_grid *grid, const struct lz_dim *dim, int rank, int64_t low, int64_t high)
{
    int coordinate = dim->axis < 0 ? 0 : lz_coordinate(grid, rank, dim->axis);
    int64_t sum = 0, a, b;
    for (int64_t from = low; lz_next(grid, dim, coordinate, from, high, &a, &b); from = b)
        sum += b - a;
    return sum;
}

/* How many elements of a box a rank owns. */
LZ_UNUSED static int64_t lz_owned(const struct lz_grid *grid, const struct lz_array *array, int rank,
                                  const int64_t *low, const int64_t *high)
{
    int64_t elements = 1;
    for (int d = 0; d < array->dims; d++)
        elements *= lz_owned_of(grid, &array->dim[d], rank, low[d], high[d]);
    return elements;
}

/* Makes room for a box. */
LZ_UNUSED static void lz_room(const struct lz_grid *grid, const struct lz_array *array, struct lz_buffer *buffer,
                    const int64_t *low, const int64_t *high)
{
    for (int d = 0; d < array->dims; d++) {
        buffer->origin[d] = low[d];
        buffer->held[d] = lz_max(high[d] - low[d], 0);
    }
    size_t bytes = lz_elements(grid, array->name, array->dims, buffer->held, array->size) * array->size;
    if (bytes > buffer->capacity || !buffer->data) {
        lz_free(buffer->data);
        buffer->data = lz_hold(grid, bytes);
        buffer->capacity = bytes;
    }
}

/* The box that a rank needs: cut off at the borders of the array. */
typedef void lz_box(const struct lz_grid *grid, const void *numbers, int rank, int64_t *low, int64_t *high);

/* Widens a box by another, if that has elements and the condition holds. */
LZ_UNUSED static void lz_hull(int dims, int when, int *some, int64_t *low, int64_t *high, const int64_t *more_low,
                    const int64_t *more_high)
{
    if (!when)
        return;
    int empty = 0;
    for (int d = 0; d < dims; d++)
        empty |= more_low[d] >= more_high[d];
    if (*some && empty)
        return;
    for (int d = 0; d < dims; d++) {
        int keep = *some && low[d] < high[d];
        low[d] = keep ? lz_min(low[d], more_low[d]) : empty ? 0 : more_low[d];
        high[d] = keep ? lz_max(high[d], more_high[d]) : empty ? 0 : more_high[d];
    }
    *some = 1;
}

/* Makes room for the box of a rank. */
LZ_UNUSED static void lz_room_for(const struct lz_grid *grid, const struct lz_array *array, struct lz_buffer *buffer, lz_box *box,
                        const void *numbers)
{
    int64_t low[LZ_DIMS] = { 0 }, high[LZ_DIMS] = { 0 };
    box(grid, numbers, grid->rank, low, high);
    lz_room(grid, array, buffer, low, high);
}

/* Bytes of a box. */
LZ_UNUSED static int64_t lz_bytes(const struct lz_grid *grid, const struct lz_array *array, const struct lz_buffer *buffer)
{
    return (int64_t)(lz_elements(grid, array->name, array->dims, buffer->held, array->size) * array->size);
}

/* Whether an array is stored with room for elements of other ranks. */
LZ_UNUSED static int lz_has_halo(const struct lz_array *array)
{
    for (int d = 0; d < array->dims; d++)
        if (array->dim[d].low || array->dim[d].high)
            return 1;
    return 0;
}

#endif
