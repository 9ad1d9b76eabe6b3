#include <stdint.h>

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize ("no-tree-loop-distribute-patterns", "no-predictive-commoning")
#endif
#ifdef __clang__
#pragma clang diagnostic ignored "-Wpass-failed"
#endif

#if defined(__clang__) && defined(__AVX512F__)
#pragma clang attribute push(__attribute__((min_vector_width(512))), apply_to = function)
#endif
enum { OK = 0, OUT_OF_MEMORY = 1, BAD_SIZES = 2 };

#define LOZENGE_LANES(most, bytes) ((most) * (bytes) < 16 ? (most) : 16 / (bytes))
#if defined(__AVX512F__)
#undef LOZENGE_LANES
#define LOZENGE_LANES(most, bytes) ((most) * (bytes) < 64 ? (most) : 64 / (bytes))
#elif defined(__AVX__)
#undef LOZENGE_LANES
#define LOZENGE_LANES(most, bytes) ((most) * (bytes) < 32 ? (most) : 32 / (bytes))
#endif
/* register_tile:
     a double[depth][8], in
     b double[depth][3][8], in
     c double[8][3][8], in and out
   Returns 0; 1 if memory runs out; 2 if the sizes are not admissible. Arrays must not overlap. */
int register_tile(
        int64_t depth,
        const double *restrict a,
        const double *restrict b,
        double *restrict c) {
    typedef double __attribute__((vector_size(LOZENGE_LANES(8, 8) * 8), aligned(8),
            may_alias)) f64x8;
    if (depth < 0) {
        return BAD_SIZES;
    }
    double acc[8][3][8];
    for (int64_t i = 0; i < 8; i++) {
        for (int64_t j = 0; j < 3; j++) {
            for (int64_t l = 0; l < 8; l++) {
                acc[i][j][l] = 0.0;
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
        for (int64_t k = 0; k < depth; k++) {
            #pragma GCC unroll 8
            for (int64_t i = 0; i < 8; i++) {
                #pragma GCC unroll 3
                for (int64_t j = 0; j < 3; j++) {
                    #pragma GCC unroll 4
                    for (int64_t l = 0; l < 8; l += LOZENGE_LANES(8, 8)) {
                        *(f64x8 *)&acc_held[i][j][l] += a[k * 8 + i]
                                * *(f64x8 *)&b[(k * 3 + j) * 8 + l];
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
    for (int64_t i = 0; i < 8; i++) {
        for (int64_t j = 0; j < 3; j++) {
            for (int64_t l = 0; l < 8; l++) {
                c[(i * 3 + j) * 8 + l] += acc[i][j][l];
            }
        }
    }
    return 0;
}

#if defined(__clang__) && defined(__AVX512F__)
#pragma clang attribute pop
#endif
