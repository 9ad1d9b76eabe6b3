/* Messages between ranks: boxes that are fetched or given back, chains, combinations.
 *
 * Ranks that differ only along axes on which a box does not depend need the same box. Such ranks
 * form a circle: an owner sends its part to the next rank that needs it, which passes it on, so
 * that no rank sends the same part twice. Every rank knows the circle by arithmetic. */
#ifndef LOZENGE_MESSAGES_H
#define LOZENGE_MESSAGES_H

#include "lozenge_ranks.h"

/* A message has at most so many bytes; what is longer goes in parts. */
#define LZ_PART ((int64_t)1 << 30)
/* What is passed on goes in four parts, so that a rank passes on the first while the next one comes;
 * but parts have as many bytes as this. */
#define LZ_SEGMENT ((int64_t)1 << 16)
/* From so many bytes on, threads share the work of copying. */
#define LZ_SHARED ((int64_t)1 << 18)
/* Tags: 0 for boxes that are given back, 1 for chains, these for fetches in turn. */
#define LZ_TAGS 1024

/* What is done with the elements of a box that a rank owns, row by row. */
struct lz_walk {
    const struct lz_grid *grid;
    const struct lz_array *array;
    const struct lz_buffer *buffer; /* where they are; none: in the array itself */
    int rank;                       /* whose elements they are */
    const int64_t *low, *high;
    char *packed; /* the message */
    int unpack;
    int64_t inner[LZ_DIMS]; /* bytes of the message for one subscript */
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

static void lz_move(const struct lz_walk *walk, char *here, char *packed, size_t bytes)
{
    memcpy(walk->unpack ? here : packed, walk->unpack ? packed : here, bytes);
}

static void lz_rows(const struct lz_walk *walk, int d, int64_t before, char *packed)
{
    const struct lz_array *array = walk->array;
    char *data = walk->buffer ? walk->buffer->data : array->data;
    if (array->dims == 0) {
        lz_move(walk, data, packed, array->size);
        return;
    }
    const struct lz_dim *dim = &array->dim[d];
    int coordinate = dim->axis < 0 ? 0 : lz_coordinate(walk->grid, walk->rank, dim->axis);
    int64_t a, b, held;
    for (int64_t from = walk->low[d]; lz_next(walk->grid, dim, coordinate, from, walk->high[d], &a, &b); from = b) {
        int64_t at = lz_place_in(walk, d, a, &held), bytes = (b - a) * walk->inner[d];
        if (d + 1 == array->dims) {
            /* Halos are before and after the block, so that a row is in one piece. */
            lz_move(walk, data + (size_t)(before * held + at) * array->size, packed, (size_t)bytes);
        } else if (d == 0 && bytes >= LZ_SHARED) {
#pragma omp parallel for
            for (int64_t k = 0; k < b - a; k++)
                lz_rows(walk, 1, before * held + at + k, packed + k * walk->inner[0]);
        } else {
            for (int64_t k = 0; k < b - a; k++)
                lz_rows(walk, d + 1, before * held + at + k, packed + k * walk->inner[d]);
        }
        packed += bytes;
    }
}

/* Copies between a message and memory. */
static void lz_copy(struct lz_grid *grid, struct lz_walk walk)
{
    int64_t inner = (int64_t)walk.array->size;
    for (int d = walk.array->dims - 1; d >= 0; d--) {
        walk.inner[d] = inner;
        inner *= lz_owned_of(walk.grid, &walk.array->dim[d], walk.rank, walk.low[d], walk.high[d]);
    }
#ifdef LOZENGE_SIMULATED
    lz_pass(grid, 2.0 * (double)inner / LZ_MEMORY);
#else
    (void)grid;
    lz_rows(&walk, 0, 0, walk.packed);
#endif
}

/* What goes from an owner to a rank. */
struct lz_message {
    int owner, to;    /* whose elements they are; who needs them */
    int before, next; /* who sends them to this rank, and whom it sends them to; -1: none */
    int receive;      /* the first of the requests by which they come */
    char *memory;
    int64_t bytes, part; /* of all, and of a part */
    int64_t low[LZ_DIMS], high[LZ_DIMS];
};

struct lz_requests {
    int count, capacity;
    MPI_Request *request;
};

/* Messages on their way. */
struct lz_flight {
    int count, capacity, tag;
    int passed; /* whether messages are passed on */
    struct lz_message *message;
    struct lz_requests receives, sends;
    const struct lz_array *array;
    struct lz_buffer *into;
    int asks, some; /* whether this rank asks for a box, which may be empty; whether it is not: */
    int64_t low[LZ_DIMS], high[LZ_DIMS];
};

static MPI_Request *lz_request(const struct lz_grid *grid, struct lz_requests *all)
{
    if (all->count == all->capacity) {
        all->capacity = all->capacity ? 2 * all->capacity : 16;
        all->request = realloc(all->request, (size_t)all->capacity * sizeof *all->request);
        if (!all->request)
            lz_fail(grid, "no memory for messages");
    }
    return &all->request[all->count++];
}

/* A message with memory for what a rank owns of a box; none if that is nothing. */
static struct lz_message *lz_message_of(const struct lz_grid *grid, struct lz_flight *flight, int owner,
                                        const int64_t *low, const int64_t *high)
{
    const struct lz_array *array = flight->array;
    int64_t elements = lz_owned(grid, array, owner, low, high);
    if (elements == 0)
        return NULL;
    if (elements > INT64_MAX / 2 / (int64_t)array->size)
        lz_fail(grid, "a message of `%s` is too long", array->name);
    if (flight->count == flight->capacity) {
        flight->capacity = flight->capacity ? 2 * flight->capacity : 16;
        flight->message = realloc(flight->message, (size_t)flight->capacity * sizeof *flight->message);
        if (!flight->message)
            lz_fail(grid, "no memory for messages");
    }
    struct lz_message *message = &flight->message[flight->count++];
    message->owner = owner;
    message->to = grid->rank;
    message->before = message->next = -1;
    message->receive = 0;
    message->bytes = elements * (int64_t)array->size;
    message->part = flight->passed ? lz_min(lz_max((message->bytes / 256 + 1) * 64, LZ_SEGMENT), LZ_PART) : LZ_PART;
    message->memory = lz_allocate(grid, (size_t)message->bytes);
    for (int d = 0; d < array->dims; d++) {
        message->low[d] = low[d];
        message->high[d] = high[d];
    }
    return message;
}

static int lz_bytes_of_part(const struct lz_message *message, int64_t done)
{
    return (int)lz_min(message->bytes - done, message->part);
}

/* Starts a part on its way to the next rank. */
static void lz_send_part(struct lz_grid *grid, struct lz_flight *flight, const struct lz_message *message, int64_t done)
{
    MPI_Isend(message->memory + done, lz_bytes_of_part(message, done), MPI_BYTE, message->next, flight->tag,
              grid->comm, lz_request(grid, &flight->sends));
    if (done == 0) {
        grid->messages++;
        grid->bytes += message->bytes;
    }
}

static void lz_send(struct lz_grid *grid, struct lz_flight *flight, const struct lz_message *message)
{
    for (int64_t done = 0; done < message->bytes; done += message->part)
        lz_send_part(grid, flight, message, done);
}

static void lz_receive(struct lz_grid *grid, struct lz_flight *flight, struct lz_message *message)
{
    message->receive = flight->receives.count;
    for (int64_t done = 0; done < message->bytes; done += message->part)
        MPI_Irecv(message->memory + done, lz_bytes_of_part(message, done), MPI_BYTE, message->before,
                  flight->tag, grid->comm, lz_request(grid, &flight->receives));
    grid->received += message->bytes;
}

/* Waits for what comes to this rank, passes on what others need, and puts all where it belongs. */
static void lz_arrive(struct lz_grid *grid, struct lz_flight *flight, int owners)
{
    for (int k = 0; k < flight->count; k++) {
        struct lz_message *message = &flight->message[k];
        if (message->before < 0)
            continue;
        MPI_Request *part = &flight->receives.request[message->receive];
        for (int64_t done = 0; done < message->bytes; done += message->part) {
            MPI_Wait(part++, MPI_STATUS_IGNORE);
            if (message->next >= 0)
                lz_send_part(grid, flight, message, done);
        }
    }
    if (flight->asks && flight->into)
        lz_room(grid, flight->array, flight->into, flight->low, flight->high);
    for (int k = 0; k < flight->count; k++) {
        struct lz_message *message = &flight->message[k];
        if (message->to == grid->rank)
            lz_copy(grid, (struct lz_walk){ grid, flight->array, flight->into, owners ? grid->rank : message->owner,
                                            message->low, message->high, message->memory, 1, { 0 } });
    }
}

/* Waits for what this rank sent, and forgets all. */
static void lz_depart(struct lz_flight *flight)
{
    MPI_Waitall(flight->sends.count, flight->sends.request, MPI_STATUSES_IGNORE);
    for (int k = 0; k < flight->count; k++)
        lz_free(flight->message[k].memory);
    free(flight->message);
    free(flight->receives.request);
    free(flight->sends.request);
    memset(flight, 0, sizeof *flight);
}

static void lz_finish(struct lz_grid *grid, struct lz_flight *flight, int owners)
{
    lz_arrive(grid, flight, owners);
    lz_depart(flight);
}

enum lz_at { LZ_ALL, LZ_FIRST, LZ_LAST };

/* Axes are bits: those on which an array is cut. */
static int lz_axes_of(const struct lz_array *array)
{
    int axes = 0;
    for (int d = 0; d < array->dims; d++)
        if (array->dim[d].axis >= 0)
            axes |= 1 << array->dim[d].axis;
    return axes;
}

/* Ranks that differ only along some axes stand in a circle: how many there are, where one stands,
 * and which one stands somewhere. */
static int lz_circle(const struct lz_grid *grid, int along)
{
    return (along & 1 ? grid->extent[0] : 1) * (along & 2 ? grid->extent[1] : 1);
}

static int lz_stands(const struct lz_grid *grid, int along, int rank)
{
    return along == 3 ? rank : along == 0 ? 0 : lz_coordinate(grid, rank, along == 1 ? 0 : 1);
}

static int lz_standing(const struct lz_grid *grid, int along, int rank, int place)
{
    int columns = grid->axes == 1 ? 1 : grid->extent[1];
    if (along == 0)
        return rank;
    if (along == 3)
        return place;
    return along == 1 ? place * columns + rank % columns : rank / columns * columns + place;
}

/* A fetch: what is fetched, and by whom. */
struct lz_wish {
    const struct lz_array *array;
    enum lz_at at;
    lz_box *box;
    const void *numbers;
    int along; /* axes on which the box does not depend */
};

/* Whether a rank needs elements; which. */
static int lz_needs(const struct lz_grid *grid, const struct lz_wish *wish, int rank, int64_t *low, int64_t *high)
{
    if (wish->at != LZ_ALL && rank != (wish->at == LZ_FIRST ? 0 : grid->ranks - 1))
        return 0;
    int some = 1;
    for (int d = 0; d < LZ_DIMS; d++)
        low[d] = high[d] = 0;
    wish->box(grid, wish->numbers, rank, low, high);
    for (int d = 0; d < wish->array->dims; d++)
        some &= low[d] < high[d];
    return some;
}

/* The nearest rank that needs elements, in the circle of `rank`: `first` to `last` steps behind the
 * place `start`, backwards if `first` is the greater one. -1: there is none. */
static int lz_nearest(const struct lz_grid *grid, const struct lz_wish *wish, int rank, int start, int first, int last)
{
    int64_t low[LZ_DIMS], high[LZ_DIMS];
    int ranks = lz_circle(grid, wish->along), by = first <= last ? 1 : -1;
    for (int step = first; by > 0 ? step <= last : step >= last; step += by) {
        int other = lz_standing(grid, wish->along, rank, (start + step) % ranks);
        if (lz_needs(grid, wish, other, low, high))
            return other;
    }
    return -1;
}

/* Coordinates along an axis: every one from `first` on, or one. */
struct lz_span {
    int first, count, ranks;
};

/* Along an axis, the coordinates of the owners of a box. */
static struct lz_span lz_owners(const struct lz_grid *grid, const struct lz_array *array, int axis, const int64_t *low,
                                const int64_t *high)
{
    for (int d = 0; d < array->dims; d++) {
        const struct lz_dim *dim = &array->dim[d];
        int64_t first = low[d] / dim->width, ranks = grid->extent[axis];
        if (dim->axis == axis)
            return (struct lz_span){ (int)(first % ranks), (int)lz_min((high[d] - 1) / dim->width + 1 - first, ranks),
                                     (int)ranks };
    }
    return (struct lz_span){ lz_coordinate(grid, grid->rank, axis), 1, grid->extent[axis] };
}

/* Along an axis, the coordinates of ranks that may need what this rank owns: for halos those whose
 * blocks are near. */
static struct lz_span lz_users(const struct lz_grid *grid, const struct lz_wish *wish, int halo, int axis)
{
    int own = lz_coordinate(grid, grid->rank, axis), ranks = grid->extent[axis];
    for (int d = 0; d < wish->array->dims; d++) {
        const struct lz_dim *dim = &wish->array->dim[d];
        if (dim->axis != axis)
            continue;
        if (wish->along & 1 << axis)
            break;
        if (!halo || !dim->one_block)
            return (struct lz_span){ 0, ranks, ranks };
        int64_t first = lz_max(own - (dim->high + dim->width - 1) / dim->width, 0);
        int64_t last = lz_min(own + (dim->low + dim->width - 1) / dim->width, ranks - 1);
        return (struct lz_span){ (int)first, (int)(last - first + 1), ranks };
    }
    return (struct lz_span){ own, 1, ranks };
}

static int lz_at_axes(const struct lz_grid *grid, struct lz_span rows, struct lz_span columns, int k)
{
    int row = (rows.first + k / columns.count) % rows.ranks;
    int column = (columns.first + k % columns.count) % columns.ranks;
    return grid->axes == 1 ? row : row * grid->extent[1] + column;
}

static int lz_by_distance(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* The messages that come to this rank, the nearest owner in the circle first. */
static void lz_expect(struct lz_grid *grid, struct lz_flight *flight, const struct lz_wish *wish)
{
    const struct lz_array *array = wish->array;
    struct lz_span rows = lz_owners(grid, array, 0, flight->low, flight->high);
    struct lz_span columns = { 0, 1, 1 };
    if (grid->axes > 1)
        columns = lz_owners(grid, array, 1, flight->low, flight->high);
    int count = rows.count * columns.count, me = grid->rank, ranks = lz_circle(grid, wish->along);
    int place = lz_stands(grid, wish->along, me);
    int64_t *owners = malloc((size_t)count * sizeof *owners);
    if (!owners)
        lz_fail(grid, "no memory for messages");
    for (int k = 0; k < count; k++) {
        int owner = lz_at_axes(grid, rows, columns, k), start = lz_stands(grid, wish->along, owner);
        int inside = lz_standing(grid, wish->along, me, start) == owner;
        owners[k] = ((place - start + ranks) % ranks + !inside) * (int64_t)grid->ranks + owner;
    }
    qsort(owners, (size_t)count, sizeof *owners, lz_by_distance);
    for (int k = 0; k < count; k++) {
        int owner = (int)(owners[k] % grid->ranks), start = lz_stands(grid, wish->along, owner);
        if (owner == me && !flight->into)
            continue;
        struct lz_message *message = lz_message_of(grid, flight, owner, flight->low, flight->high);
        if (!message || owner == me)
            continue;
        int outside = lz_standing(grid, wish->along, me, start) != owner;
        int steps = (place - start + ranks) % ranks;
        int before = steps > !outside ? lz_nearest(grid, wish, me, start, steps - 1, !outside) : -1;
        message->before = before < 0 ? owner : before;
        message->next = steps + 1 < ranks ? lz_nearest(grid, wish, me, start, steps + 1, ranks - 1) : -1;
        lz_receive(grid, flight, message);
    }
    free(owners);
}

/* The messages that begin at this rank: one to each circle in which its elements are needed. */
static void lz_offer(struct lz_grid *grid, struct lz_flight *flight, const struct lz_wish *wish)
{
    int64_t low[LZ_DIMS], high[LZ_DIMS];
    const struct lz_array *array = wish->array;
    struct lz_span rows = lz_users(grid, wish, !flight->into, 0), columns = { 0, 1, 1 };
    if (grid->axes > 1)
        columns = lz_users(grid, wish, !flight->into, 1);
    int me = grid->rank, ranks = lz_circle(grid, wish->along), place = lz_stands(grid, wish->along, me);
    struct lz_message *own = NULL;
    int expected = flight->count;
    for (int k = 0; k < rows.count * columns.count; k++) {
        int there = lz_at_axes(grid, rows, columns, k), inside = there == me;
        int next = inside > ranks - 1 ? -1 : lz_nearest(grid, wish, there, place, inside, ranks - 1);
        int mine = inside && flight->some && flight->into;
        if (!mine && (next < 0 || !lz_needs(grid, wish, next, low, high)))
            continue;
        for (int m = 0; mine && m < expected && !own; m++)
            own = flight->message[m].owner == me ? &flight->message[m] : NULL;
        struct lz_message *message = mine ? own : lz_message_of(grid, flight, me, low, high);
        if (!message)
            continue;
        lz_copy(grid, (struct lz_walk){ grid, array, NULL, me, message->low, message->high, message->memory, 0, { 0 } });
        message->to = mine ? me : -1;
        message->next = next;
        if (next >= 0)
            lz_send(grid, flight, message);
    }
}

/* Starts the messages of a fetch: into a buffer, or into the halo of the array. */
LZ_UNUSED static void lz_begin(struct lz_grid *grid, struct lz_flight *flight, const struct lz_array *array,
                               struct lz_buffer *into, enum lz_at at, lz_box *box, int along, const void *numbers)
{
    struct lz_wish wish = { array, at, box, numbers, along & lz_axes_of(array) };
    memset(flight, 0, sizeof *flight);
    flight->array = array;
    flight->into = into;
    flight->tag = 2 + grid->flights++ % LZ_TAGS;
    flight->passed = lz_circle(grid, wish.along) > 2;
    flight->some = lz_needs(grid, &wish, grid->rank, flight->low, flight->high);
    flight->asks = at == LZ_ALL || grid->rank == (at == LZ_FIRST ? 0 : grid->ranks - 1);
    if (flight->some)
        lz_expect(grid, flight, &wish);
    lz_offer(grid, flight, &wish);
}

LZ_UNUSED static void lz_fetch(struct lz_grid *grid, const struct lz_array *array, struct lz_buffer *into,
                               enum lz_at at, lz_box *box, int along, const void *numbers)
{
    struct lz_flight flight;
    lz_begin(grid, &flight, array, into, at, box, along, numbers);
    lz_finish(grid, &flight, 0);
}

/* Brings a box of one rank back to the owners of its elements. */
LZ_UNUSED static void lz_return(struct lz_grid *grid, const struct lz_array *array, struct lz_buffer *from,
                                enum lz_at at, lz_box *box, const void *numbers)
{
    struct lz_flight flight = { .array = array };
    int64_t low[LZ_DIMS] = { 0 }, high[LZ_DIMS] = { 0 };
    int sender = at == LZ_LAST ? grid->ranks - 1 : 0, me = grid->rank;
    /* An array that every rank holds is its own buffer. */
    struct lz_buffer whole = { 0 };
    box(grid, numbers, sender, low, high);
    if (!from) {
        whole.data = array->data;
        for (int d = 0; d < array->dims; d++)
            whole.held[d] = array->dim[d].held;
    }
    for (int to = 0; me == sender && to < grid->ranks; to++) {
        struct lz_message *message = to != me || from ? lz_message_of(grid, &flight, to, low, high) : NULL;
        if (!message)
            continue;
        message->to = to;
        message->next = to == me ? -1 : to;
        lz_copy(grid, (struct lz_walk){ grid, array, from ? from : &whole, to, message->low, message->high,
                                        message->memory, 0, { 0 } });
        if (to != me)
            lz_send(grid, &flight, message);
    }
    if (me != sender) {
        /* The same count on both sides: what this rank owns. */
        struct lz_message *message = lz_message_of(grid, &flight, me, low, high);
        if (message) {
            message->before = sender;
            lz_receive(grid, &flight, message);
        }
    }
    lz_finish(grid, &flight, 1);
}

/* In a chain: memory from the rank before, and to the one behind. */
LZ_UNUSED static void lz_from_before(struct lz_grid *grid, char *data, int64_t bytes)
{
#ifdef LOZENGE_SIMULATED
    data = lz_allocate(grid, (size_t)lz_min(bytes, LZ_PART));
#endif
    for (int64_t done = 0; grid->rank > 0 && done < bytes; done += LZ_PART)
        MPI_Recv(LZ_PLACE(data, done), (int)lz_min(bytes - done, LZ_PART), MPI_BYTE, grid->rank - 1, 1, grid->comm,
                 MPI_STATUS_IGNORE);
    if (grid->rank > 0)
        grid->received += bytes;
}

LZ_UNUSED static void lz_to_behind(struct lz_grid *grid, const char *data, int64_t bytes)
{
#ifdef LOZENGE_SIMULATED
    data = lz_allocate(grid, (size_t)lz_min(bytes, LZ_PART));
#endif
    for (int64_t done = 0; grid->rank + 1 < grid->ranks && done < bytes; done += LZ_PART)
        MPI_Send(LZ_PLACE(data, done), (int)lz_min(bytes - done, LZ_PART), MPI_BYTE, grid->rank + 1, 1, grid->comm);
    if (grid->rank + 1 < grid->ranks && bytes > 0) {
        grid->messages++;
        grid->bytes += bytes;
    }
}

/* Combines what all ranks computed of an array that each holds. */
LZ_UNUSED static void lz_combine(struct lz_grid *grid, struct lz_array *array, MPI_Datatype type, MPI_Op op)
{
    size_t elements = lz_stored(grid, array), part = (size_t)1 << 28;
    char *data = array->data;
#ifdef LOZENGE_SIMULATED
    data = lz_allocate(grid, (elements < part ? elements : part) * array->size);
#endif
    for (size_t done = 0; done < elements; done += part) {
        int count = (int)(elements - done < part ? elements - done : part);
        MPI_Allreduce(MPI_IN_PLACE, LZ_PLACE(data, done * array->size), count, type, op, grid->comm);
    }
    /* As many as up a tree and down again. */
    if (grid->rank > 0) {
        grid->messages += 2;
        grid->bytes += 2 * (int64_t)(elements * array->size);
        grid->received += 2 * (int64_t)(elements * array->size);
    }
}

/* The box of a whole array, which is given instead of numbers. */
LZ_UNUSED static void lz_all_of(const struct lz_grid *grid, const void *numbers, int rank, int64_t *low, int64_t *high)
{
    const struct lz_array *array = numbers;
    (void)grid;
    (void)rank;
    for (int d = 0; d < array->dims; d++) {
        low[d] = 0;
        high[d] = array->dim[d].extent;
    }
}

/* A whole array in memory as a buffer. */
LZ_UNUSED static struct lz_buffer lz_whole(const struct lz_array *array, char *memory)
{
    struct lz_buffer whole = { .data = memory, .capacity = array->size };
    for (int d = 0; d < array->dims; d++) {
        whole.held[d] = array->dim[d].extent;
        whole.capacity *= (size_t)array->dim[d].extent;
    }
    return whole;
}

/* The elements that this rank owns, from an array that every rank holds. */
LZ_UNUSED static void lz_take(struct lz_grid *grid, const struct lz_array *array, char *memory)
{
    int64_t low[LZ_DIMS] = { 0 }, high[LZ_DIMS] = { 0 };
    struct lz_buffer whole = lz_whole(array, memory);
    lz_all_of(grid, array, grid->rank, low, high);
    char *packed = lz_allocate(grid, (size_t)lz_owned(grid, array, grid->rank, low, high) * array->size);
    lz_copy(grid, (struct lz_walk){ grid, array, &whole, grid->rank, low, high, packed, 0, { 0 } });
    lz_copy(grid, (struct lz_walk){ grid, array, NULL, grid->rank, low, high, packed, 1, { 0 } });
    lz_free(packed);
}

/* The elements of all ranks, to an array that every rank holds. */
LZ_UNUSED static void lz_gather(struct lz_grid *grid, const struct lz_array *array, char *memory)
{
    struct lz_buffer whole = lz_whole(array, memory);
    if (whole.capacity > 0)
        lz_fetch(grid, array, &whole, LZ_ALL, lz_all_of, 3, array);
}

/* The elements that this rank owns, to or from memory without halos. */
LZ_UNUSED static void lz_blocks_copy(struct lz_grid *grid, const struct lz_array *array, char *blocks, int unpack)
{
    int64_t low[LZ_DIMS] = { 0 }, high[LZ_DIMS] = { 0 };
    for (int d = 0; d < array->dims; d++)
        high[d] = array->dim[d].extent;
    lz_copy(grid, (struct lz_walk){ grid, array, NULL, grid->rank, low, high, blocks, unpack, { 0 } });
}

#endif
