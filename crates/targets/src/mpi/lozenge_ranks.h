/* What programs for several ranks need at run time: blocks, boxes, messages, errors.
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
    int64_t messages, bytes; /* sent by this rank */
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

static void *lz_allocate(const struct lz_grid *grid, size_t bytes)
{
    void *memory = NULL;
    if (posix_memalign(&memory, 64, bytes ? bytes : 64))
        lz_fail(grid, "no memory for %zu bytes", bytes);
    return memory;
}

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
    struct lz_grid grid = { comm, 0, 1, axes, { rows, columns }, 0, 0 };
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
    array->data = lz_allocate(grid, lz_stored(grid, array) * array->size);
    array->owned = 1;
}

LZ_UNUSED static void lz_drop(struct lz_array *array)
{
    if (array->owned)
        free(array->data);
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

/* How many elements of a box a rank owns. */
static int64_t lz_owned(const struct lz_grid *grid, const struct lz_array *array, int rank, const int64_t *low,
                        const int64_t *high)
{
    int64_t elements = 1;
    for (int d = 0; d < array->dims; d++) {
        const struct lz_dim *dim = &array->dim[d];
        int coordinate = dim->axis < 0 ? 0 : lz_coordinate(grid, rank, dim->axis);
        int64_t sum = 0, a, b;
        for (int64_t from = low[d]; lz_next(grid, dim, coordinate, from, high[d], &a, &b); from = b)
            sum += b - a;
        elements *= sum;
    }
    return elements;
}

/* What is done with the elements of a box that a rank owns, row by row. */
struct lz_walk {
    const struct lz_grid *grid;
    const struct lz_array *array;
    const struct lz_buffer *buffer; /* where they are; none: in the array itself */
    int rank;                       /* whose elements they are */
    const int64_t *low, *high;
    char *packed; /* the message */
    int unpack;
};

static int64_t lz_place_in(const struct lz_walk *walk, int d, int64_t at, int64_t *held)
{
    if (walk->buffer) {
        *held = walk->buffer->held[d];
        return at - walk->buffer->origin[d];
    }
    *held = walk->array->dim[d].held;
    return lz_index(walk->grid, &walk->array->dim[d], at);
}

static void lz_rows(struct lz_walk *walk, int d, int64_t before)
{
    const struct lz_array *array = walk->array;
    char *data = walk->buffer ? walk->buffer->data : array->data;
    if (array->dims == 0) {
        char *here = data;
        memcpy(walk->unpack ? here : walk->packed, walk->unpack ? walk->packed : here, array->size);
        walk->packed += array->size;
        return;
    }
    const struct lz_dim *dim = &array->dim[d];
    int coordinate = dim->axis < 0 ? 0 : lz_coordinate(walk->grid, walk->rank, dim->axis);
    int64_t a, b, held;
    for (int64_t from = walk->low[d]; lz_next(walk->grid, dim, coordinate, from, walk->high[d], &a, &b); from = b) {
        int64_t at = lz_place_in(walk, d, a, &held);
        if (d + 1 == array->dims) {
            /* Halos are before and after the block, so that a row is in one piece. */
            char *here = data + (size_t)(before * held + at) * array->size;
            size_t bytes = (size_t)(b - a) * array->size;
            memcpy(walk->unpack ? here : walk->packed, walk->unpack ? walk->packed : here, bytes);
            walk->packed += bytes;
        } else {
            for (int64_t k = 0; k < b - a; k++)
                lz_rows(walk, d + 1, before * held + at + k);
        }
    }
}

/* Messages on their way. */
struct lz_flight {
    int count, capacity;
    struct lz_message {
        int from, to;
        char *memory;
        int64_t bytes;
        int64_t low[LZ_DIMS], high[LZ_DIMS];
    } *message;
    int requests, most;
    MPI_Request *request;
    const struct lz_array *array;
    const struct lz_buffer *into;
};

/* A message has at most so many bytes; what is longer goes in parts. */
#define LZ_PART ((int64_t)1 << 30)

static MPI_Request *lz_request(const struct lz_grid *grid, struct lz_flight *flight)
{
    if (flight->requests == flight->most) {
        flight->most = flight->most ? 2 * flight->most : 16;
        flight->request = realloc(flight->request, (size_t)flight->most * sizeof *flight->request);
        if (!flight->request)
            lz_fail(grid, "no memory for messages");
    }
    return &flight->request[flight->requests++];
}

/* Starts a message of this rank, to or from another. */
static void lz_start(struct lz_grid *grid, struct lz_flight *flight, const struct lz_message *message)
{
    int sends = message->from == grid->rank;
    for (int64_t done = 0; done < message->bytes; done += LZ_PART) {
        int bytes = (int)lz_min(message->bytes - done, LZ_PART);
        MPI_Request *request = lz_request(grid, flight);
        if (sends)
            MPI_Isend(message->memory + done, bytes, MPI_BYTE, message->to, 0, grid->comm, request);
        else
            MPI_Irecv(message->memory + done, bytes, MPI_BYTE, message->from, 0, grid->comm, request);
    }
    if (sends) {
        grid->messages++;
        grid->bytes += message->bytes;
    }
}

/* Adds what goes from one rank to another of a box, and starts it. */
static void lz_add(struct lz_grid *grid, struct lz_flight *flight, int from, int to, const int64_t *low,
                   const int64_t *high, const struct lz_buffer *out)
{
    const struct lz_array *array = flight->array;
    int64_t elements = lz_owned(grid, array, out ? to : from, low, high);
    if (elements == 0)
        return;
    if (elements > INT64_MAX / 2 / (int64_t)array->size)
        lz_fail(grid, "a message of `%s` is too long", array->name);
    if (flight->count == flight->capacity) {
        flight->capacity = flight->capacity ? 2 * flight->capacity : 16;
        flight->message = realloc(flight->message, (size_t)flight->capacity * sizeof *flight->message);
        if (!flight->message)
            lz_fail(grid, "no memory for messages");
    }
    struct lz_message *message = &flight->message[flight->count++];
    message->from = from;
    message->to = to;
    message->bytes = elements * (int64_t)array->size;
    message->memory = lz_allocate(grid, (size_t)message->bytes);
    for (int d = 0; d < array->dims; d++) {
        message->low[d] = low[d];
        message->high[d] = high[d];
    }
    if (from == grid->rank) {
        struct lz_walk walk = { grid, array, out, out ? to : from, low, high, message->memory, 0 };
        lz_rows(&walk, 0, 0);
    }
    if (from != to)
        lz_start(grid, flight, message);
}

/* Waits for all messages, and puts them where they belong. */
static void lz_finish(struct lz_grid *grid, struct lz_flight *flight, int owners)
{
    MPI_Waitall(flight->requests, flight->request, MPI_STATUSES_IGNORE);
    for (int k = 0; k < flight->count; k++) {
        struct lz_message *message = &flight->message[k];
        if (message->to == grid->rank) {
            struct lz_walk walk = { grid, flight->array, flight->into, owners ? message->to : message->from,
                                    message->low, message->high, message->memory, 1 };
            lz_rows(&walk, 0, 0);
        }
        free(message->memory);
    }
    free(flight->message);
    free(flight->request);
    flight->message = NULL;
    flight->request = NULL;
    flight->count = flight->capacity = flight->requests = flight->most = 0;
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
        free(buffer->data);
        buffer->data = lz_allocate(grid, bytes);
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

enum lz_at { LZ_ALL, LZ_FIRST, LZ_LAST };

/* Whether two ranks differ on an axis on which an array is not cut, so that each has its own. */
static int lz_apart(const struct lz_grid *grid, const struct lz_array *array, int a, int b)
{
    for (int axis = 0; axis < grid->axes; axis++) {
        int cut = 0;
        for (int d = 0; d < array->dims; d++)
            cut |= array->dim[d].axis == axis;
        if (!cut && lz_coordinate(grid, a, axis) != lz_coordinate(grid, b, axis))
            return 1;
    }
    return 0;
}

static int lz_needs(const struct lz_grid *grid, enum lz_at at, int rank)
{
    return at == LZ_ALL || (at == LZ_FIRST ? rank == 0 : rank == grid->ranks - 1);
}

/* Starts the messages of a fetch: into a buffer, or into the halo of the array. */
LZ_UNUSED static void lz_begin(struct lz_grid *grid, struct lz_flight *flight, const struct lz_array *array, struct lz_buffer *into,
                     enum lz_at at, lz_box *box, const void *numbers)
{
    int64_t low[LZ_DIMS] = { 0 }, high[LZ_DIMS] = { 0 };
    int me = grid->rank;
    memset(flight, 0, sizeof *flight);
    flight->array = array;
    flight->into = into;
    if (lz_needs(grid, at, me)) {
        box(grid, numbers, me, low, high);
        if (into)
            lz_room(grid, array, into, low, high);
        for (int step = 0; step < grid->ranks; step++) {
            int from = (me + step) % grid->ranks;
            if ((from != me || into) && !lz_apart(grid, array, from, me))
                lz_add(grid, flight, from, me, low, high, NULL);
        }
    }
    for (int step = 1; step < grid->ranks; step++) {
        int to = (me - step + grid->ranks) % grid->ranks;
        if (!lz_needs(grid, at, to) || lz_apart(grid, array, me, to))
            continue;
        box(grid, numbers, to, low, high);
        lz_add(grid, flight, me, to, low, high, NULL);
    }
}

LZ_UNUSED static void lz_fetch(struct lz_grid *grid, const struct lz_array *array, struct lz_buffer *into, enum lz_at at,
                     lz_box *box, const void *numbers)
{
    struct lz_flight flight;
    lz_begin(grid, &flight, array, into, at, box, numbers);
    lz_finish(grid, &flight, 0);
}

/* Brings a box of one rank back to the owners of its elements. */
LZ_UNUSED static void lz_return(struct lz_grid *grid, const struct lz_array *array, const struct lz_buffer *from,
                      enum lz_at at, lz_box *box, const void *numbers)
{
    struct lz_flight flight = { 0 };
    int64_t low[LZ_DIMS] = { 0 }, high[LZ_DIMS] = { 0 };
    int sender = at == LZ_LAST ? grid->ranks - 1 : 0, me = grid->rank;
    /* An array that every rank holds is its own buffer. */
    struct lz_buffer whole = { 0 };
    flight.array = array;
    box(grid, numbers, sender, low, high);
    if (!from) {
        whole.data = array->data;
        for (int d = 0; d < array->dims; d++)
            whole.held[d] = array->dim[d].held;
    }
    const struct lz_buffer *held = from ? from : &whole;
    if (me == sender) {
        for (int to = 0; to < grid->ranks; to++)
            if (to != me || from)
                lz_add(grid, &flight, me, to, low, high, held);
    } else {
        /* The same count on both sides: what this rank owns. */
        lz_add(grid, &flight, sender, me, low, high, held);
    }
    lz_finish(grid, &flight, 1);
}

/* In a chain: memory from the rank before, and to the one behind. */
LZ_UNUSED static void lz_from_before(struct lz_grid *grid, char *data, int64_t bytes)
{
    for (int64_t done = 0; grid->rank > 0 && done < bytes; done += LZ_PART)
        MPI_Recv(data + done, (int)lz_min(bytes - done, LZ_PART), MPI_BYTE, grid->rank - 1, 1, grid->comm,
                 MPI_STATUS_IGNORE);
}

LZ_UNUSED static void lz_to_behind(struct lz_grid *grid, const char *data, int64_t bytes)
{
    for (int64_t done = 0; grid->rank + 1 < grid->ranks && done < bytes; done += LZ_PART)
        MPI_Send(data + done, (int)lz_min(bytes - done, LZ_PART), MPI_BYTE, grid->rank + 1, 1, grid->comm);
    if (grid->rank + 1 < grid->ranks && bytes > 0) {
        grid->messages++;
        grid->bytes += bytes;
    }
}

/* Combines what all ranks computed of an array that each holds. */
LZ_UNUSED static void lz_combine(struct lz_grid *grid, struct lz_array *array, MPI_Datatype type, MPI_Op op)
{
    size_t elements = lz_stored(grid, array), part = (size_t)1 << 28;
    for (size_t done = 0; done < elements; done += part) {
        int count = (int)(elements - done < part ? elements - done : part);
        MPI_Allreduce(MPI_IN_PLACE, array->data + done * array->size, count, type, op, grid->comm);
    }
    /* As many as up a tree and down again. */
    if (grid->rank > 0) {
        grid->messages += 2;
        grid->bytes += 2 * (int64_t)(elements * array->size);
    }
}

/* The elements that this rank owns, to or from memory without halos. */
LZ_UNUSED static void lz_blocks_copy(const struct lz_grid *grid, const struct lz_array *array, char *blocks, int unpack)
{
    int64_t low[LZ_DIMS] = { 0 }, high[LZ_DIMS] = { 0 };
    for (int d = 0; d < array->dims; d++)
        high[d] = array->dim[d].extent;
    struct lz_walk walk = { grid, array, NULL, grid->rank, low, high, blocks, unpack };
    lz_rows(&walk, 0, 0);
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
