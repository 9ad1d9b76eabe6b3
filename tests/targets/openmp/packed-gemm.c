#define _POSIX_C_SOURCE 200112L /* posix_memalign */
#include <stdint.h>
#include <stdlib.h>

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize ("no-tree-loop-distribute-patterns", "no-predictive-commoning")
#endif

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize ("no-trapping-math")
#endif

#if defined(__AVX512F__) && defined(__GNUC__) && __GNUC__ >= 8 && !defined(__clang__)
#pragma GCC target ("prefer-vector-width=512")
#endif

#ifndef _OPENMP
#pragma GCC diagnostic ignored "-Wunknown-pragmas"
#endif
#ifdef __clang__
#pragma clang diagnostic ignored "-Wpass-failed"
#endif

#if defined(__clang__) && defined(__AVX512F__)
#pragma clang attribute push(__attribute__((min_vector_width(512))), apply_to = function)
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

/* Whether a sum goes beyond 64 bits. */
static inline int lozenge_add_beyond(int64_t a, int64_t b) {
    int64_t r;
    return __builtin_add_overflow(a, b, &r);
}

static inline int64_t lozenge_min(int64_t a, int64_t b) {
    return a < b ? a : b;
}

#define LOZENGE_LANES(most, bytes) ((most) * (bytes) < 16 ? (most) : 16 / (bytes))
#if defined(__AVX512F__)
#undef LOZENGE_LANES
#define LOZENGE_LANES(most, bytes) ((most) * (bytes) < 64 ? (most) : 64 / (bytes))
#elif defined(__AVX__)
#undef LOZENGE_LANES
#define LOZENGE_LANES(most, bytes) ((most) * (bytes) < 32 ? (most) : 32 / (bytes))
#endif
/* packed_gemm:
     a double[n][m], in
     b double[m][p], in
     c double[n][p], in and out
   Returns 0; 1 if memory runs out; 2 if the sizes are not admissible. Arrays must not overlap. */
int packed_gemm(
        int64_t n,
        int64_t m,
        int64_t p,
        const double *restrict a,
        const double *restrict b,
        double *restrict c) {
    typedef double __attribute__((vector_size(LOZENGE_LANES(8, 8) * 8), aligned(8),
            may_alias)) f64x8;
    if (n < 0 || m < 0 || p < 0 || lozenge_add_beyond(m, 255)) {
        return BAD_SIZES;
    }
    double *restrict right = lozenge_alloc(lozenge_extent((p + 23) / 24, 6144), sizeof(double));
    if (right == NULL) {
        return OUT_OF_MEMORY;
    }
    int status = OK;
    for (int64_t kc = 0; kc < m; kc += 256) {
        #pragma omp parallel for
        for (int64_t jp = 0; jp < (p + 23) / 24; jp++) {
            for (int64_t k = 0; k < lozenge_min(256, m - kc); k++) {
                for (int64_t l = 0; l < 24; l++) {
                    right[(jp * 256 + k) * 3 * 8 + l] = jp * 24 + l < p
                            ? b[(kc + k) * p + lozenge_min(jp * 24 + l, p - 1)] : 0.0;
                }
            }
        }
        #pragma omp parallel
        {
            int thread_status = OK;
            double *restrict left = lozenge_alloc(24576, sizeof(double));
            if (left == NULL) {
                thread_status = OUT_OF_MEMORY;
            }
            #pragma omp for
            for (int64_t ic = 0; ic < n; ic += 96) {
                if (thread_status != OK) {
                    continue;
                }
                for (int64_t ip = 0; ip < (lozenge_min(96, n - ic) + 7) / 8; ip++) {
                    for (int64_t k = 0; k < lozenge_min(256, m - kc); k++) {
                        for (int64_t i = 0; i < 8; i++) {
                            left[(ip * 256 + k) * 8 + i] = ic + ip * 8 + i < n
                                    ? a[lozenge_min(ic + ip * 8 + i, n - 1) * m + kc + k] : 0.0;
                        }
                    }
                }
                for (int64_t jp = 0; jp < (p + 23) / 24; jp++) {
                    for (int64_t ip = 0; ip < (lozenge_min(96, n - ic) + 7) / 8; ip++) {
                        double acc[8][3][8];
                        for (int64_t i = 0; i < 8; i++) {
                            for (int64_t j = 0; j < 3; j++) {
                                #pragma GCC unroll 4
                                for (int64_t l = 0; l < 8; l += LOZENGE_LANES(8, 8)) {
                                    *(f64x8 *)&acc[i][j][l] = (f64x8){0};
                                }
                            }
                        }
                        {
                            double acc_held[8][3][8];
                            #pragma GCC unroll 8
                            for (int64_t i = 0; i < 8; i++) {
                                #pragma GCC unroll 3
                                for (int64_t j = 0; j < 3; j++) {
                                    #pragma GCC unroll 4
                                    for (int64_t l = 0; l < 8; l += LOZENGE_LANES(8, 8)) {
                                        *(f64x8 *)&acc_held[i][j][l] = *(f64x8 *)&acc[i][j][l];
                                    }
                                }
                            }
                            for (int64_t k = 0; k < lozenge_min(256, m - kc); k++) {
                                #pragma GCC unroll 8
                                for (int64_t i = 0; i < 8; i++) {
                                    #pragma GCC unroll 3
                                    for (int64_t j = 0; j < 3; j++) {
                                        #pragma GCC unroll 4
                                        for (int64_t l = 0; l < 8; l += LOZENGE_LANES(8, 8)) {
                                            *(f64x8 *)&acc_held[i][j][l] +=
                                                    left[(ip * 256 + k) * 8 + i]
                                                    * *(f64x8 *)&right[((jp * 256 + k) * 3 + j) * 8
                                                    + l];
                                        }
                                    }
                                }
                            }
                            #pragma GCC unroll 8
                            for (int64_t i = 0; i < 8; i++) {
                                #pragma GCC unroll 3
                                for (int64_t j = 0; j < 3; j++) {
                                    #pragma GCC unroll 4
                                    for (int64_t l = 0; l < 8; l += LOZENGE_LANES(8, 8)) {
                                        *(f64x8 *)&acc[i][j][l] = *(f64x8 *)&acc_held[i][j][l];
                                    }
                                }
                            }
                        }
                        if (ic + ip * 8 + 8 <= n && jp * 24 + 24 <= p) {
                            for (int64_t i = 0; i < 8; i++) {
                                for (int64_t j = 0; j < 3; j++) {
                                    #pragma GCC unroll 4
                                    for (int64_t l = 0; l < 8; l += LOZENGE_LANES(8, 8)) {
                                        *(f64x8 *)&c[(ic + ip * 8 + i) * p + jp * 24 + j * 8 + l] +=
                                                *(f64x8 *)&acc[i][j][l];
                                    }
                                }
                            }
                        } else {
                            for (int64_t i = 0; i < lozenge_min(8, n - ic - ip * 8); i++) {
                                for (int64_t l = 0; l < lozenge_min(24, p - jp * 24); l++) {
                                    c[(ic + ip * 8 + i) * p + jp * 24 + l] += acc[i][l / 8][l % 8];
                                }
                            }
                        }
                    }
                }
            }
            if (thread_status != OK) {
                #pragma omp atomic write
                status = thread_status;
            }
            free(left);
        }
        if (status != OK) {
            break;
        }
    }
    free(right);
    return status;
}

#if defined(__clang__) && defined(__AVX512F__)
#pragma clang attribute pop
#endif
