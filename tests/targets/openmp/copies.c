#include <stdint.h>

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize ("no-tree-loop-distribute-patterns", "no-predictive-commoning")
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

enum { OK = 0, OUT_OF_MEMORY = 1, BAD_SIZES = 2 };

/* Whether a sum goes beyond 64 bits. */
static inline int lozenge_add_beyond(int64_t a, int64_t b) {
    int64_t r;
    return __builtin_add_overflow(a, b, &r);
}

static inline int64_t lozenge_min(int64_t a, int64_t b) {
    return a < b ? a : b;
}

/* tiles:
     a float[n][m], in
     b float[n][m], out
   Returns 0; 1 if memory runs out; 2 if the sizes are not admissible. Arrays must not overlap. */
int tiles(int64_t n, int64_t m, const float *restrict a, float *restrict b) {
    if (n < 0 || m < 0 || lozenge_add_beyond(n, 3)) {
        return BAD_SIZES;
    }
    #pragma omp parallel for
    for (int64_t t = 0; t < n; t += 4) {
        { /* tile */
            float buffer[4][16];
            for (int64_t u = 0; u < m; u += 16) {
                for (int64_t c0 = 0; c0 < lozenge_min(4, n - t); c0++) {
                    for (int64_t c1 = 0; c1 < lozenge_min(16, m - u); c1++) {
                        buffer[c0][c1] = a[(t + c0) * m + u + c1];
                    }
                }
                #pragma GCC unroll 4
                for (int64_t i = 0; i < 4; i++) {
                    #pragma omp simd simdlen(16)
                    for (int64_t j = 0; j < 16; j++) {
                        if (t + i < n && u + j < m) {
                            buffer[i][j] = buffer[i][j] * 2.0f + 1.0f;
                        }
                    }
                }
                for (int64_t c0 = 0; c0 < lozenge_min(4, n - t); c0++) {
                    for (int64_t c1 = 0; c1 < lozenge_min(16, m - u); c1++) {
                        b[(t + c0) * m + u + c1] = buffer[c0][c1];
                    }
                }
                #pragma GCC unroll 2
                for (int64_t i = u; i < lozenge_min(u + 16, m); i++) {
                    b[t * m + i] = b[t * m + i] + 1.0f;
                }
            }
        }
    }
    return 0;
}
