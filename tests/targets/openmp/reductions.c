#define _POSIX_C_SOURCE 200112L /* posix_memalign */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>

#if defined(__AVX512F__) && defined(__GNUC__) && __GNUC__ >= 8 && !defined(__clang__)
#pragma GCC target ("prefer-vector-width=512")
#endif

#ifndef _OPENMP
#pragma GCC diagnostic ignored "-Wunknown-pragmas"
#endif

#ifndef LOZENGE_PAIR_F64_I64
#define LOZENGE_PAIR_F64_I64
typedef struct {
    double x1;
    int64_t x2;
} pair_f64_i64;
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

static inline int64_t lozenge_max(int64_t a, int64_t b) {
    return a > b ? a : b;
}

/* The larger of two numbers, one that is no NaN; -0 is below +0. */
static inline double lozenge_max_f64(double a, double b) {
    union { double number; uint64_t bits; } x = { .number = a }, y = { .number = b };
    x.bits &= y.bits;
    double other = a > b || b != b ? a : b;
    return a == b ? x.number : other;
}

#pragma omp declare reduction(lozenge_max_f64 : double : omp_out = lozenge_max_f64(omp_out, omp_in)) initializer(omp_priv = __builtin_nan(""))

/* Sum of 64-bit integers that wraps around. */
static inline int64_t lozenge_add(int64_t a, int64_t b) {
    return (int64_t)((uint64_t)a + (uint64_t)b);
}

/* statistics:
     a double[n][m], in
     sums double[m], in and out
     largest double, in and out
     best pair_f64_i64, in and out
     total double, out
   Returns 0; 1 if memory runs out; 2 if the sizes are not admissible. Arrays must not overlap. */
int statistics(
        int64_t n,
        int64_t m,
        const double *restrict a,
        double *restrict sums,
        double *restrict largest,
        pair_f64_i64 *restrict best,
        double *restrict total) {
    double *restrict squares = lozenge_alloc(m, sizeof(double));
    if (squares == NULL) {
        return OUT_OF_MEMORY;
    }
    int status = OK;
    int64_t count = 0;
    *total = 0.0;
    for (int64_t j = 0; j < m; j++) {
        squares[j] = 0.0;
    }
    double few[4];
    for (int64_t j = 0; j < 4; j++) {
        few[j] = 0.0;
    }
    {
        double largest_value = *largest;
        {
            int threads = 0;
            #pragma omp parallel
            {
                int thread_status = OK;
                double *restrict sums_part = lozenge_alloc(m, sizeof(double));
                double total_part;
                double *restrict squares_part = lozenge_alloc(m, sizeof(double));
                double few_part[4];
                pair_f64_i64 best_part;
                #pragma omp atomic
                threads += 1;
                if (sums_part == NULL || squares_part == NULL) {
                    thread_status = OUT_OF_MEMORY;
                } else {
                    for (int64_t r0 = 0; r0 < m; r0++) {
                        sums_part[r0] = 0.0;
                    }
                    total_part = 0.0;
                    for (int64_t r0 = 0; r0 < m; r0++) {
                        squares_part[r0] = 0.0;
                    }
                    for (int64_t r0 = 0; r0 < 4; r0++) {
                        few_part[r0] = 0.0;
                    }
                    best_part.x1 = NAN;
                    best_part.x2 = INT64_MIN;
                }
                #pragma omp for reduction(+:count) reduction(lozenge_max_f64:largest_value) schedule(static)
                for (int64_t i = 0; i < n; i++) {
                    if (thread_status != OK) {
                        continue;
                    }
                    for (int64_t j = 0; j < m; j++) {
                        sums_part[j] += a[i * m + j];
                        squares_part[j] += a[i * m + j] * a[i * m + j];
                        few_part[j % 4] += 1.0;
                        largest_value = lozenge_max_f64(largest_value, a[i * m + j]);
                        count = lozenge_add(count, 1);
                        total_part += a[i * m + j];
                        best_part.x1 = lozenge_max_f64(best_part.x1, a[i * m + j]);
                        best_part.x2 = lozenge_max(best_part.x2, i);
                    }
                }
                #pragma omp for ordered schedule(static, 1)
                for (int turn = 0; turn < threads; turn++) {
                    #pragma omp ordered
                    {
                        if (thread_status != OK) {
                            status = thread_status;
                        } else {
                            for (int64_t r0 = 0; r0 < m; r0++) {
                                sums[r0] += sums_part[r0];
                            }
                            *total += total_part;
                            for (int64_t r0 = 0; r0 < m; r0++) {
                                squares[r0] += squares_part[r0];
                            }
                            for (int64_t r0 = 0; r0 < 4; r0++) {
                                few[r0] += few_part[r0];
                            }
                            best->x1 = lozenge_max_f64(best->x1, best_part.x1);
                            best->x2 = lozenge_max(best->x2, best_part.x2);
                        }
                    }
                }
                free(squares_part);
                free(sums_part);
            }
        }
        *largest = largest_value;
    }
    if (status != OK) {
        free(squares);
        return status;
    }
    for (int64_t j = 0; j < m; j++) {
        sums[j] += squares[j] + (double)count + few[j % 4];
    }
    free(squares);
    return status;
}
