#define _POSIX_C_SOURCE 200112L /* posix_memalign */
#include <stdint.h>
#include <stdlib.h>

#if defined(__AVX512F__) && defined(__GNUC__) && __GNUC__ >= 8 && !defined(__clang__)
#pragma GCC target ("prefer-vector-width=512")
#endif

#ifndef _OPENMP
#pragma GCC diagnostic ignored "-Wunknown-pragmas"
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

/* Product of extents; INT64_MAX, which no allocation satisfies, if it does not fit. */
static inline int64_t lozenge_extent(int64_t a, int64_t b) {
    int64_t product;
    return __builtin_mul_overflow(a, b, &product) ? INT64_MAX : product;
}

/* Sum of extents; INT64_MAX, which no allocation satisfies, if it does not fit. */
static inline int64_t lozenge_extent_sum(int64_t a, int64_t b) {
    int64_t sum;
    return __builtin_add_overflow(a, b, &sum) ? INT64_MAX : sum;
}

static inline int64_t lozenge_min(int64_t a, int64_t b) {
    return a < b ? a : b;
}

/* smooth:
     a double[n][m], in
     b double[n][m], out
   Returns 0; 1 if memory runs out; 2 if the sizes are not admissible. Arrays must not overlap. */
int smooth(int64_t n, int64_t m, const double *restrict a, double *restrict b) {
    double *restrict whole = lozenge_alloc(lozenge_extent(n, m), sizeof(double));
    if (whole == NULL) {
        return OUT_OF_MEMORY;
    }
    int status = OK;
    for (int64_t i = 0; i < n; i++) {
        for (int64_t j = 0; j < m; j++) {
            whole[i * m + j] = a[i * m + j] * 2.0;
        }
    }
    double only_set;
    (void)only_set;
    #pragma omp parallel
    {
        int thread_status = OK;
        double *restrict row = lozenge_alloc(m, sizeof(double));
        if (row == NULL) {
            thread_status = OUT_OF_MEMORY;
        }
        #pragma omp for
        for (int64_t i = 0; i < n; i++) {
            if (thread_status != OK) {
                continue;
            }
            double tile[4][2];
            for (int64_t t = 0; t < 4; t++) {
                for (int64_t u = 0; u < 2; u++) {
                    tile[t][u] = (double)(t - u);
                }
            }
            for (int64_t j = 0; j < m; j++) {
                row[j] = whole[i * m + j] + tile[j % 4][j / 4 % 2];
            }
            for (int64_t j = 0; j < m; j++) {
                double *restrict tail = lozenge_alloc(j + 1, sizeof(double));
                if (tail == NULL) {
                    thread_status = OUT_OF_MEMORY;
                } else {
                    for (int64_t k = 0; k < j + 1; k++) {
                        tail[k] = row[j - k];
                    }
                    b[i * m + j] = tail[0] - tail[j];
                }
                free(tail);
                if (thread_status != OK) {
                    break;
                }
            }
            if (thread_status == OK) {
                if (m > 3) {
                    double *restrict extra =
                            lozenge_alloc(lozenge_extent_sum(lozenge_extent(m, n), 2),
                            sizeof(double));
                    if (extra == NULL) {
                        thread_status = OUT_OF_MEMORY;
                    } else {
                        extra[0] = b[i * m + 3];
                        {
                            double extra_before = extra[0];
                            for (int64_t k = 1; k < m; k++) {
                                extra_before = extra_before + 1.0;
                                extra[k] = extra_before;
                            }
                        }
                        b[i * m] = extra[m - 1];
                    }
                    free(extra);
                }
            }
        }
        if (thread_status != OK) {
            #pragma omp atomic write
            status = thread_status;
        }
        free(row);
    }
    if (status != OK) {
        free(whole);
        return status;
    }
    only_set = 3.0;
    for (int64_t i = 0; i < n * lozenge_min(m, 1); i++) {
        double *restrict half = lozenge_alloc(i, sizeof(double));
        if (half == NULL) {
            status = OUT_OF_MEMORY;
        } else {
            for (int64_t k = 0; k < i; k++) {
                half[k] = a[k * m + m - 1] * 0.5;
            }
            for (int64_t k = 0; k < lozenge_min(i, m); k++) {
                b[i * m + k] += half[i - 1 - k];
            }
        }
        free(half);
        if (status != OK) {
            break;
        }
    }
    free(whole);
    return status;
}
