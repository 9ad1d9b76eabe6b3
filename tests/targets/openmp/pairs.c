#define _POSIX_C_SOURCE 200112L /* posix_memalign */
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#if defined(__AVX512F__) && defined(__GNUC__) && __GNUC__ >= 8 && !defined(__clang__)
#pragma GCC target ("prefer-vector-width=512")
#endif

#ifndef _OPENMP
#pragma GCC diagnostic ignored "-Wunknown-pragmas"
#endif

#ifndef LOZENGE_PAIR_F32_I64
#define LOZENGE_PAIR_F32_I64
typedef struct {
    float x1;
    int64_t x2;
} pair_f32_i64;
#endif

#ifndef LOZENGE_PAIR_F64_BOOL
#define LOZENGE_PAIR_F64_BOOL
typedef struct {
    double x1;
    bool x2;
} pair_f64_bool;
#endif

#ifndef LOZENGE_PAIR_I64_F32
#define LOZENGE_PAIR_I64_F32
typedef struct {
    int64_t x1;
    float x2;
} pair_i64_f32;
#endif

#ifndef LOZENGE_PAIR_BOOL_PAIR_I64_F32
#define LOZENGE_PAIR_BOOL_PAIR_I64_F32
typedef struct {
    bool x1;
    pair_i64_f32 x2;
} pair_bool_pair_i64_f32;
#endif

#ifndef LOZENGE_PAIR_PAIR_F32_I64_BOOL
#define LOZENGE_PAIR_PAIR_F32_I64_BOOL
typedef struct {
    pair_f32_i64 x1;
    bool x2;
} pair_pair_f32_i64_bool;
#endif

enum { OK = 0, OUT_OF_MEMORY = 1, BAD_SIZES = 2 };

/* Memory for `count` elements, aligned for vectors; NULL if there is none. */
static void *lozenge_alloc(int64_t count, size_t size) {
    void *block = NULL;
    if (count < 1) {
        count = 1;
    }
    if ((uint64_t)count > (uint64_t)PTRDIFF_MAX / size || posix_memalign(&block, 64, (size_t)count * size) != 0) {
        return NULL;
    }
    return block;
}

/* argmax:
     x float[n], in
     best pair_f32_i64, out
   Returns 0; 1 if memory runs out; 2 if the sizes are not admissible. Arrays must not overlap. */
int argmax(int64_t n, const float *restrict x, pair_f32_i64 *restrict best) {
    pair_f32_i64 acc;
    acc.x1 = -INFINITY;
    acc.x2 = -1;
    for (int64_t i = 0; i < n; i++) {
        if (x[i] > acc.x1) {
            acc.x1 = x[i];
            acc.x2 = i;
        }
    }
    best->x1 = acc.x1;
    best->x2 = acc.x2;
    return 0;
}

/* shuffle:
     p pair_pair_f32_i64_bool[n], in
     one pair_f64_bool, in
     q pair_bool_pair_i64_f32[n], out
   Returns 0; 1 if memory runs out; 2 if the sizes are not admissible. Arrays must not overlap. */
int shuffle(
        int64_t n,
        const pair_pair_f32_i64_bool *restrict p,
        pair_f64_bool one,
        pair_bool_pair_i64_f32 *restrict q) {
    pair_i64_f32 *restrict t = lozenge_alloc(n, sizeof(pair_i64_f32));
    if (t == NULL) {
        return OUT_OF_MEMORY;
    }
    #pragma omp parallel for
    for (int64_t i = 0; i < n; i++) {
        t[i].x1 = p[i].x1.x2;
        t[i].x2 = p[i].x1.x1 + (float)one.x1;
    }
    #pragma omp parallel for
    for (int64_t i = 0; i < n; i++) {
        q[i].x1 = p[i].x2 && one.x2;
        q[i].x2.x1 = t[n - 1 - i].x1;
        q[i].x2.x2 = t[i].x2;
    }
    free(t);
    return 0;
}
