#include <stdint.h>

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

/* gemm:
     alpha double, in
     a double[n][m], in
     b double[m][p], in
     c double[n][p], in and out
   Returns 0; 1 if memory runs out; 2 if the sizes are not admissible. Arrays must not overlap. */
int gemm(
        int64_t n,
        int64_t m,
        int64_t p,
        double alpha,
        const double *restrict a,
        const double *restrict b,
        double *restrict c) {
    if (n < 0 || m < 0 || p < 0) {
        return BAD_SIZES;
    }
    #pragma omp parallel for
    for (int64_t i = 0; i < n; i++) {
        for (int64_t j = 0; j < p; j++) {
            double acc = 0.0;
            #pragma omp simd reduction(+:acc)
            for (int64_t k = 0; k < m; k++) {
                acc += a[i * m + k] * b[k * p + j];
            }
            c[i * p + j] += alpha * acc;
        }
    }
    return 0;
}
