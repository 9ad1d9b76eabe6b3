/* The fixed part of the program that runs generated functions: arrays, files, time. What depends on the functions
   (`ROUTINES`, `call`, `transfer`) is written in front of it. Not here: any knowledge of what the functions compute.

   usage: driver ROUTINE REPETITIONS WARM_UP INPUT OUTPUT SIZES... COUNTS... BOUNDS...
   INPUT and OUTPUT are files of raw columns; `-` means data made here, and no output but the digest. */

enum { IN, OUT, INOUT };

static void fail(const char *what)
{
    fprintf(stderr, "%s\n", what);
    exit(9);
}

static uint64_t next(uint64_t *state)
{
    uint64_t z = (*state += UINT64_C(0x9e3779b97f4a7c15));
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

/* A column: one scalar component of an array. */
struct column {
    char *first;
    size_t stride, count;
    int type; /* 0 f32, 1 f64, 2 i32, 3 i64, 4 bool, 5 i8, 6 u8, 7 i16, 8 u16, 9 u32, 10 u64 */
};

/* Seconds after which a warm-up counts as a measurement. */
static const double long_time = 5;

static const size_t width[] = { 4, 8, 4, 8, 1, 1, 1, 2, 2, 4, 8, 2 };

static void make(struct column c, int64_t bound, uint64_t *state)
{
    for (size_t k = 0; k < c.count; k++) {
        char *at = c.first + k * c.stride;
        uint64_t r = next(state);
        double unit = (double)((int64_t)(r >> 40) - (1 << 23)) / (1 << 23);
        float f = (float)unit;
        int32_t i = (int32_t)(r % 19) - 9;
        int64_t l = bound > 0 ? (int64_t)(r % (uint64_t)bound) : (int64_t)i;
        bool b = r & 1;
        switch (c.type) {
        case 0: memcpy(at, &f, 4); break;
        case 1: memcpy(at, &unit, 8); break;
        case 2: memcpy(at, &i, 4); break;
        case 3: memcpy(at, &l, 8); break;
        case 4: memcpy(at, &b, 1); break;
        /* half precision: from 1/2 to just below 1, of any sign */
        case 11: l = 0x3800 | (int64_t)(r >> 40 & 0x83ff), memcpy(at, &l, 2); break;
        default: l = (int64_t)(r >> 40) % (width[c.type] < 4 ? 65536 : 19), memcpy(at, &l, width[c.type]); break;
        }
    }
}

static double value(struct column c, size_t k)
{
    const char *at = c.first + k * c.stride;
    float f;
    double d;
    int32_t i;
    int64_t l;
    int16_t i16;
    uint16_t u16;
    uint32_t u32;
    uint64_t u64;
    switch (c.type) {
    case 0: memcpy(&f, at, 4); return (double)f;
    case 1: memcpy(&d, at, 8); return d;
    case 2: memcpy(&i, at, 4); return (double)i;
    case 3: memcpy(&l, at, 8); return (double)l;
    case 4: return *at != 0;
    case 5: return (signed char)*at;
    case 6: return (unsigned char)*at;
    case 7: memcpy(&i16, at, 2); return i16;
    case 8: memcpy(&u16, at, 2); return u16;
    case 9: memcpy(&u32, at, 4); return u32;
    case 11:
        memcpy(&u16, at, 2);
        u32 = (uint32_t)(u16 & 0x7fff) << 13;
        memcpy(&f, &u32, 4);
        return (u16 & 0x8000 ? -1.0 : 1.0) * (double)(f * 0x1p112f);
    default: memcpy(&u64, at, 8); return (double)u64;
    }
}

static void transfer_column(struct column c, FILE *file, bool reading)
{
    if (c.stride == width[c.type]) {
        size_t done = reading ? fread(c.first, c.stride, c.count, file) : fwrite(c.first, c.stride, c.count, file);
        if (done != c.count) fail("a data file is short");
        return;
    }
    for (size_t k = 0; k < c.count; k++) {
        char *at = c.first + k * c.stride;
        size_t done = reading ? fread(at, width[c.type], 1, file) : fwrite(at, width[c.type], 1, file);
        if (done != 1) fail("a data file is short");
    }
}

/* Sums of the results with two weights, and of their magnitudes: enough to see that two programs computed the same thing. */
static void digest(struct column c, double sums[3])
{
    for (size_t k = 0; k < c.count; k++) {
        double x = value(c, k);
        sums[0] += x;
        sums[1] += x * (double)(1 + k % 97) / 97;
        sums[2] += x < 0 ? -x : x;
    }
}

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

int main(int argc, char **argv)
{
    if (argc < 6) fail("too few arguments");
    int routine = atoi(argv[1]);
    if (routine < 0 || routine >= ROUTINES) fail("no such routine");
    const struct routine *r = &routines[routine];
    int repetitions = atoi(argv[2]), warm_up = atoi(argv[3]);
    if (argc != 6 + r->sizes + 2 * r->params) fail("wrong number of arguments");
    int64_t size[SLOTS] = { 0 }, bound[SLOTS] = { 0 };
    size_t count[SLOTS] = { 0 };
    void *array[SLOTS] = { 0 }, *saved[SLOTS] = { 0 };
    char **next_argument = argv + 6;
    for (int k = 0; k < r->sizes; k++) size[k] = strtoll(*next_argument++, NULL, 10);
    for (int k = 0; k < r->params; k++) count[k] = (size_t)strtoull(*next_argument++, NULL, 10);
    for (int k = 0; k < r->params; k++) bound[k] = strtoll(*next_argument++, NULL, 10);

    bool made = strcmp(argv[4], "-") == 0, kept = strcmp(argv[5], "-") != 0;
    FILE *file = made ? NULL : fopen(argv[4], "rb");
    if (!made && !file) fail("can't open the input");
    uint64_t state = 1;
    for (int k = 0; k < r->params; k++) {
        size_t bytes = count[k] * r->param[k].bytes;
        if (posix_memalign(&array[k], 64, bytes ? bytes : 64)) fail("out of memory");
        if (r->param[k].mode == OUT) {
            /* not a number, so that an element which is never written shows */
            memset(array[k], r->param[k].truth ? 0 : 0xff, bytes);
            continue;
        }
        struct column column[LEAVES];
        int columns = columns_of(routine, k, array[k], count[k], column);
        for (int c = 0; c < columns; c++) {
            if (made) make(column[c], bound[k], &state);
            else transfer_column(column[c], file, true);
        }
        if (r->param[k].mode == INOUT && repetitions + warm_up > 1) {
            if (posix_memalign(&saved[k], 64, bytes ? bytes : 64)) fail("out of memory");
            memcpy(saved[k], array[k], bytes);
        }
    }
    if (file) fclose(file);

    for (int n = -warm_up; n < repetitions; n++) {
        for (int k = 0; k < r->params; k++)
            if (saved[k]) memcpy(array[k], saved[k], count[k] * r->param[k].bytes);
        double start = now();
        int status = call(routine, size, array);
        double time = now() - start;
        if (status != 0) {
            fprintf(stderr, "status %d\n", status);
            return 10 + status;
        }
        if (n >= 0) printf("time %.9f\n", time);
        if (n < 0 && time > long_time) {
            /* what cold caches cost is lost in so long a time: it counts, and a run of minutes is not made twice */
            printf("time %.9f\n", time);
            repetitions--;
        }
    }

    double sums[3] = { 0, 0, 0 };
    file = kept ? fopen(argv[5], "wb") : NULL;
    if (kept && !file) fail("can't open the output");
    for (int k = 0; k < r->params; k++) {
        if (r->param[k].mode == IN) continue;
        struct column column[LEAVES];
        int columns = columns_of(routine, k, array[k], count[k], column);
        for (int c = 0; c < columns; c++) {
            if (file) transfer_column(column[c], file, false);
            else digest(column[c], sums);
        }
    }
    if (file && fclose(file)) fail("can't write the output");
    if (!kept) printf("digest %.17g %.17g %.17g\n", sums[0], sums[1], sums[2]);
    for (int k = 0; k < r->params; k++) {
        free(array[k]);
        free(saved[k]);
    }
    return 0;
}
