/* A program around a function for several ranks: options, and npy files by MPI-IO. */
#ifndef LOZENGE_MAIN_H
#define LOZENGE_MAIN_H

#include <errno.h>
#include <math.h>
#include <stdbool.h>

#include "lozenge_messages.h"

/* A parameter: an array, or a scalar (an array of no dimensions). */
struct lz_param {
    struct lz_array *array;
    const char *descr; /* the element type of a npy file: `f8` */
    char kind;         /* 'f', 'i', 'u', 'b' */
    int in, out;
    const char *read, *write;
};

struct lz_size {
    const char *name;
    int64_t *value;
    int given;
};

/* What the command line says. */
struct lz_options {
    int rows, columns, repetitions, fill, count;
    long seed;
};

static int lz_usage(const struct lz_grid *grid, const struct lz_size *size, int sizes, const struct lz_param *param,
                    int params, const char *program)
{
    if (grid->rank == 0) {
        printf("Usage: mpirun -n RANKS %s [--grid ROWSxCOLUMNS] [--reps N] [--fill SEED] [--count]\n", program);
        for (int k = 0; k < sizes; k++)
            printf("    --size %s=NUMBER\n", size[k].name);
        for (int k = 0; k < params; k++) {
            if (param[k].in)
                printf("    --in %s=FILE.npy%s\n", param[k].array->name, param[k].array->dims ? "" : "|VALUE");
            if (param[k].out)
                printf("    --out %s=FILE.npy\n", param[k].array->name);
        }
    }
    MPI_Finalize();
    return 0;
}

static const char *lz_named(const char *text, const char *name)
{
    size_t length = strlen(name);
    return strncmp(text, name, length) == 0 && text[length] == '=' ? text + length + 1 : NULL;
}

static void lz_option(const struct lz_grid *grid, const char *option, const char *text, struct lz_size *size,
                      int sizes, struct lz_param *param, int params, struct lz_options *options)
{
    char *end = NULL;
    errno = 0;
    if (strcmp(option, "--size") == 0) {
        for (int k = 0; k < sizes; k++) {
            const char *value = lz_named(text, size[k].name);
            if (!value)
                continue;
            *size[k].value = strtoll(value, &end, 10);
            size[k].given = 1;
            if (*end || end == value || errno)
                lz_fail(grid, "the size %s is not a number", text);
            return;
        }
        lz_fail(grid, "there is no size `%s`", text);
    }
    int reads = strcmp(option, "--in") == 0;
    if (reads || strcmp(option, "--out") == 0) {
        for (int k = 0; k < params; k++) {
            const char *file = lz_named(text, param[k].array->name);
            if (!file || (reads ? !param[k].in : !param[k].out))
                continue;
            *(reads ? &param[k].read : &param[k].write) = file;
            return;
        }
        lz_fail(grid, "there is no parameter `%s` for %s", text, option);
    }
    if (strcmp(option, "--grid") == 0) {
        options->rows = (int)strtol(text, &end, 10);
        if (*end == 'x')
            options->columns = (int)strtol(end + 1, &end, 10);
        if (*end || options->rows < 1 || options->columns < 0)
            lz_fail(grid, "`%s` is not a grid: write ROWSxCOLUMNS", text);
        return;
    }
    if (strcmp(option, "--reps") == 0) {
        options->repetitions = (int)strtol(text, &end, 10);
        if (*end || options->repetitions < 1)
            lz_fail(grid, "`%s` is not a number of repetitions", text);
        return;
    }
    if (strcmp(option, "--fill") == 0) {
        options->fill = 1;
        options->seed = strtol(text, &end, 10);
        return;
    }
    lz_fail(grid, "there is no option `%s`", option);
}

/* Reads the command line; 1 if the program is to end. */
static int lz_arguments(const struct lz_grid *grid, int argc, char **argv, struct lz_size *size, int sizes,
                        struct lz_param *param, int params, struct lz_options *options)
{
    for (int k = 1; k < argc; k++) {
        if (strcmp(argv[k], "--help") == 0)
            return lz_usage(grid, size, sizes, param, params, argv[0]), 1;
        if (strcmp(argv[k], "--count") == 0) {
            options->count = 1;
            continue;
        }
        if (k + 1 == argc)
            lz_fail(grid, "`%s` needs a value; --help says which", argv[k]);
        lz_option(grid, argv[k], argv[k + 1], size, sizes, param, params, options);
        k++;
    }
    for (int k = 0; k < sizes; k++)
        if (!size[k].given)
            lz_fail(grid, "the size `%s` is missing: --size %s=NUMBER", size[k].name, size[k].name);
    for (int k = 0; k < params; k++)
        if (param[k].in && !param[k].read && !options->fill)
            lz_fail(grid, "the parameter `%s` is missing: --in %s=FILE.npy", param[k].array->name,
                    param[k].array->name);
    return 0;
}

static void lz_io(const struct lz_grid *grid, int error, const char *file)
{
    if (error == MPI_SUCCESS)
        return;
    char text[MPI_MAX_ERROR_STRING];
    int length = 0;
    MPI_Error_string(error, text, &length);
    lz_fail(grid, "%s: %.*s", file, length, text);
}

#define LZ_HEADER 4096

/* Reads the head of a npy file and compares it with a parameter; where its data begins. */
static MPI_Offset lz_npy_head(const struct lz_grid *grid, MPI_File file, const char *name, const struct lz_param *param)
{
    char head[LZ_HEADER + 1];
    const struct lz_array *array = param->array;
    MPI_Status status;
    int bytes = 0;
    memset(head, 0, sizeof head);
    lz_io(grid, MPI_File_read_at(file, 0, head, LZ_HEADER, MPI_BYTE, &status), name);
    MPI_Get_count(&status, MPI_BYTE, &bytes);
    const unsigned char *raw = (const unsigned char *)head;
    if (bytes < 12 || memcmp(head, "\x93NUMPY", 6) != 0)
        lz_fail(grid, "%s is not a npy file", name);
    int start = raw[6] == 1 ? 10 : 12;
    int length = raw[8] | raw[9] << 8 | (raw[6] == 1 ? 0 : raw[10] << 16);
    if (start + length > bytes)
        lz_fail(grid, "the header of %s is too long, or the file is cut off", name);
    char *text = head + start;
    text[length - 1] = 0;
    char *descr = strstr(text, "'descr'"), *order = strstr(text, "'fortran_order'"), *shape = strstr(text, "'shape'");
    if (!descr || !order || !shape)
        lz_fail(grid, "the header of %s is not that of a npy file", name);
    char type[8] = { 0 };
    sscanf(descr, "'descr'%*[: ]'%7[^']", type);
    const char *own = type[0] == '<' || type[0] == '|' || type[0] == '=' ? type + 1 : type;
    if (strcmp(own, param->descr) != 0)
        lz_fail(grid, "%s holds elements of type `%s`, and `%s` has `%s`", name, type, array->name, param->descr);
    order = strchr(order, ':');
    if (array->dims > 1 && order && strstr(order, "True") && strstr(order, "True") < order + 8)
        lz_fail(grid, "%s is in column-major order; write it in row-major order", name);
    char *at = strchr(shape, '(');
    for (int d = 0; at && d <= array->dims; d++) {
        at += strspn(at, "(, ");
        char *end = at;
        long long extent = strtoll(at, &end, 10);
        if (d == array->dims ? end != at : end == at || extent != array->dim[d].extent)
            lz_fail(grid, "the shape of %s is not that of `%s`%s%s", name, array->name,
                    d == array->dims ? "" : ": dimension ", d == array->dims ? "" : (const char[]){ (char)('0' + d), 0 });
        at = end;
    }
    return start + length;
}

/* The rows that a rank owns, in a file. */
struct lz_rows_of_file {
    const struct lz_grid *grid;
    const struct lz_array *array;
    MPI_File file;
    const char *name;
    MPI_Offset start;
    int write;
};

static void lz_file_rows(const struct lz_rows_of_file *io, int d, int64_t before, int64_t stored)
{
    const struct lz_array *array = io->array;
    const struct lz_dim *dim = &array->dim[d];
    int64_t a = 0, b = 1, from = 0, inner = 1, inner_held = 1;
    int coordinate = array->dims == 0 || dim->axis < 0 ? 0 : lz_coordinate(io->grid, io->grid->rank, dim->axis);
    int whole = 1;
    for (int k = d + 1; k < array->dims; k++) {
        whole &= array->dim[k].held == array->dim[k].extent;
        inner *= array->dim[k].extent;
        inner_held *= array->dim[k].held;
    }
    for (; array->dims == 0 ? from == 0 : lz_next(io->grid, dim, coordinate, from, dim->extent, &a, &b); from = b) {
        int64_t extent = array->dims == 0 ? 1 : dim->extent, held = array->dims == 0 ? 1 : dim->held;
        int64_t at = array->dims == 0 ? 0 : lz_index(io->grid, dim, a);
        if (!whole) {
            for (int64_t k = 0; k < b - a; k++)
                lz_file_rows(io, d + 1, before * extent + a + k, stored * held + at + k);
            continue;
        }
        char *memory = array->data + (size_t)((stored * held + at) * inner_held) * array->size;
        MPI_Offset place = io->start + (before * extent + a) * inner * (MPI_Offset)array->size;
        int64_t bytes = (b - a) * inner * (int64_t)array->size;
        for (int64_t done = 0; done < bytes; done += LZ_PART) {
            int part = (int)lz_min(bytes - done, LZ_PART), moved = 0;
            MPI_Status status;
            int error = io->write ? MPI_File_write_at(io->file, place + done, memory + done, part, MPI_BYTE, &status)
                                  : MPI_File_read_at(io->file, place + done, memory + done, part, MPI_BYTE, &status);
            lz_io(io->grid, error, io->name);
            MPI_Get_count(&status, MPI_BYTE, &moved);
            if (moved != part)
                lz_fail(io->grid, "%s is cut off: %d of %d bytes", io->name, moved, part);
        }
    }
}

/* Reads this rank's part of a parameter: from a file, or a scalar from the command line. */
static void lz_read(const struct lz_grid *grid, const struct lz_param *param)
{
    struct lz_array *array = param->array;
    if (array->dims == 0) {
        char *end = NULL;
        double value = strtod(param->read, &end);
        long long whole = strtoll(param->read, NULL, 0);
        if (end != param->read && !*end) {
            switch (param->kind) {
            case 'f':
                if (array->size == 4)
                    *(float *)array->data = (float)value;
                else
                    *(double *)array->data = value;
                return;
            case 'b':
                *(bool *)array->data = value != 0;
                return;
            default:
                if (array->size == 1)
                    *(int8_t *)array->data = (int8_t)whole;
                else if (array->size == 2)
                    *(int16_t *)array->data = (int16_t)whole;
                else if (array->size == 4)
                    *(int32_t *)array->data = (int32_t)whole;
                else
                    *(int64_t *)array->data = whole;
                return;
            }
        }
    }
    struct lz_rows_of_file io = { grid, array, MPI_FILE_NULL, param->read, 0, 0 };
    lz_io(grid, MPI_File_open(grid->comm, param->read, MPI_MODE_RDONLY, MPI_INFO_NULL, &io.file), param->read);
    io.start = lz_npy_head(grid, io.file, param->read, param);
    lz_file_rows(&io, 0, 0, 0);
    lz_io(grid, MPI_File_close(&io.file), param->read);
}

/* Writes a parameter, each rank its part. */
static void lz_write(const struct lz_grid *grid, const struct lz_param *param)
{
    const struct lz_array *array = param->array;
    char head[LZ_HEADER];
    int used = snprintf(head + 10, sizeof head - 10, "{'descr': '%s%s', 'fortran_order': False, 'shape': (",
                        array->size == 1 ? "|" : "<", param->descr);
    for (int d = 0; d < array->dims; d++)
        used += snprintf(head + 10 + used, sizeof head - 10 - (size_t)used, "%lld%s", (long long)array->dim[d].extent,
                         d + 1 < array->dims ? ", " : d == 0 ? "," : "");
    used += snprintf(head + 10 + used, sizeof head - 10 - (size_t)used, "), }");
    while ((10 + used + 1) % 64 != 0)
        head[10 + used++] = ' ';
    head[10 + used++] = '\n';
    memcpy(head, "\x93NUMPY\x01", 8);
    head[7] = 0;
    head[8] = (char)(used & 255);
    head[9] = (char)(used >> 8);
    struct lz_rows_of_file io = { grid, array, MPI_FILE_NULL, param->write, 10 + used, 1 };
    int mode = MPI_MODE_WRONLY | MPI_MODE_CREATE;
    lz_io(grid, MPI_File_open(grid->comm, param->write, mode, MPI_INFO_NULL, &io.file), param->write);
    int64_t elements = 1;
    for (int d = 0; d < array->dims; d++)
        elements *= array->dim[d].extent;
    MPI_Offset bytes = io.start + elements * (MPI_Offset)array->size;
    lz_io(grid, MPI_File_set_size(io.file, bytes), param->write);
    if (grid->rank == 0) {
        MPI_Status status;
        lz_io(grid, MPI_File_write_at(io.file, 0, head, 10 + used, MPI_BYTE, &status), param->write);
    }
    /* Of ranks that hold the same, the first one writes. */
    int first = 1;
    for (int rank = 0; rank < grid->rank; rank++) {
        int same = 1;
        for (int d = 0; d < array->dims; d++)
            if (array->dim[d].axis >= 0)
                same &= lz_coordinate(grid, rank, array->dim[d].axis)
                        == lz_coordinate(grid, grid->rank, array->dim[d].axis);
        first &= !same;
    }
    if (first)
        lz_file_rows(&io, 0, 0, 0);
    lz_io(grid, MPI_File_close(&io.file), param->write);
}

/* Numbers that depend only on the seed and the rank, for measuring. */
static void lz_fill(const struct lz_grid *grid, const struct lz_param *param, long seed)
{
    const struct lz_array *array = param->array;
    size_t elements = array->data ? lz_stored(grid, array) : 0; /* a simulation has no memory */
    uint64_t state = (uint64_t)seed + (uint64_t)grid->rank * 7919u;
    for (size_t k = 0; k < elements; k++) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        double unit = (double)(state >> 40) / (double)(1 << 24);
        char *at = array->data + k * array->size;
        if (param->kind == 'f' && array->size == 8)
            *(double *)at = unit;
        else if (param->kind == 'f')
            *(float *)at = (float)unit;
        else
            memset(at, param->kind == 'b' ? (int)(state >> 63) : 0, array->size);
    }
}

/* Prints seconds of a run: those of the rank that took longest. */
static void lz_time(const struct lz_grid *grid, double seconds)
{
    double longest = seconds;
    MPI_Reduce(&seconds, &longest, 1, MPI_DOUBLE, MPI_MAX, 0, grid->comm);
    if (grid->rank == 0)
        printf("time %.9f\n", longest);
}

/* Prints what all ranks sent, and what the one received that received most. */
static void lz_traffic(const struct lz_grid *grid)
{
    int64_t own[2] = { grid->messages, grid->bytes }, all[2] = { 0, 0 }, most = 0;
    MPI_Reduce(own, all, 2, MPI_INT64_T, MPI_SUM, 0, grid->comm);
    MPI_Reduce(&grid->received, &most, 1, MPI_INT64_T, MPI_MAX, 0, grid->comm);
    if (grid->rank == 0)
        printf("messages %lld\nbytes %lld\nmost %lld\n", (long long)all[0], (long long)all[1], (long long)most);
#ifdef LOZENGE_SIMULATED
    double computed = grid->computed;
    MPI_Reduce(&grid->computed, &computed, 1, MPI_DOUBLE, MPI_SUM, 0, grid->comm);
    if (grid->rank == 0)
        printf("computed %.9g\n", computed);
#endif
}

#endif
