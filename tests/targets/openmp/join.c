#include <stdint.h>

#if defined(__AVX512F__) && defined(__GNUC__) && __GNUC__ >= 8 && !defined(__clang__)
#pragma GCC target ("prefer-vector-width=512")
#endif

#ifndef _OPENMP
#pragma GCC diagnostic ignored "-Wunknown-pragmas"
#endif

/* copy:
     x double[n][m], in
     y double[n * m], out
     k double[n][m][3], in
     z double[n * m * 3], out
   Returns 0; 1 if memory runs out; 2 if the sizes are not admissible. Arrays must not overlap. */
int copy(
        int64_t n,
        int64_t m,
        const double *restrict x,
        double *restrict y,
        const double *restrict k,
        double *restrict z) {
    #pragma omp parallel for
    for (int64_t i = 0; i < n * m; i++) {
        y[i] = x[i];
    }
    #pragma omp parallel for
    for (int64_t i = 0; i < n * m * 3; i++) {
        z[i] = k[i];
    }
    return 0;
}
