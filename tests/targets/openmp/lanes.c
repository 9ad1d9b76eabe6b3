#include <math.h>
#include <stdint.h>

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

/* forces:
     x double[n][2], in
     mass double[n], in
     force double[n][2], out
   Returns 0; 1 if memory runs out; 2 if the sizes are not admissible. Arrays must not overlap. */
int forces(
        int64_t n,
        const double *restrict x,
        const double *restrict mass,
        double *restrict force) {
    #pragma omp parallel
    {
        if (0 < n) {
            #pragma omp for simd
            for (int64_t i = 0; i < n; i++) {
                double fx;
                double fy;
                fx = 0.0;
                fy = 0.0;
                for (int64_t j = 0; j < n; j++) {
                    double dx;
                    double dy;
                    double pull;
                    dx = x[j * 2] - x[i * 2];
                    dy = x[j * 2 + 1] - x[i * 2 + 1];
                    pull = mass[j] / (dx * dx + dy * dy + 0.001);
                    fx += pull * dx;
                    fy += pull * dy;
                }
                force[i * 2] = mass[i] * fx;
                force[i * 2 + 1] = mass[i] * fy;
            }
        }
    }
    return 0;
}

/* potential:
     p float[m], in
     q float[n], in
     v float[m], out
   Returns 0; 1 if memory runs out; 2 if the sizes are not admissible. Arrays must not overlap. */
int potential(
        int64_t m,
        int64_t n,
        const float *restrict p,
        const float *restrict q,
        float *restrict v) {
    #pragma omp parallel
    {
        if (0 < n) {
            #pragma omp for simd
            for (int64_t i = 0; i < m; i++) {
                float s = 0.0f;
                for (int64_t j = 0; j < n; j++) {
                    s += q[j] / (1.0f + fabsf(p[i] - q[j]));
                }
                v[i] = s;
            }
        } else {
            #pragma omp for
            for (int64_t i = 0; i < m; i++) {
                float s = 0.0f;
                for (int64_t j = 0; j < n; j++) {
                    s += q[j] / (1.0f + fabsf(p[i] - q[j]));
                }
                v[i] = s;
            }
        }
    }
    return 0;
}

/* window:
     x double[n + 7], in
     w double[8], in
     y double[n], out
   Returns 0; 1 if memory runs out; 2 if the sizes are not admissible. Arrays must not overlap. */
int window(int64_t n, const double *restrict x, const double *restrict w, double *restrict y) {
    #pragma omp parallel for simd
    for (int64_t i = 0; i < n; i++) {
        double s = 0.0;
        for (int64_t k = 0; k < 8; k++) {
            s += w[k] * x[i + k];
        }
        y[i] = s;
    }
    return 0;
}

/* rows:
     a double[m][n], in
     x double[n], in
     y double[m], out
   Returns 0; 1 if memory runs out; 2 if the sizes are not admissible. Arrays must not overlap. */
int rows(
        int64_t m,
        int64_t n,
        const double *restrict a,
        const double *restrict x,
        double *restrict y) {
    #pragma omp parallel for
    for (int64_t i = 0; i < m; i++) {
        double s = 0.0;
        for (int64_t j = 0; j < n; j++) {
            s += a[i * n + j] / x[j];
        }
        y[i] = s;
    }
    return 0;
}

/* triangle:
     x double[n], in
     y double[n], out
     z double[n], out
   Returns 0; 1 if memory runs out; 2 if the sizes are not admissible. Arrays must not overlap. */
int triangle(int64_t n, const double *restrict x, double *restrict y, double *restrict z) {
    #pragma omp parallel for schedule(dynamic)
    for (int64_t i = 0; i < n; i++) {
        double s = 0.0;
        for (int64_t j = 0; j < i; j++) {
            s += x[j];
        }
        y[i] = s;
    }
    #pragma omp parallel for
    for (int64_t i = 0; i < n; i++) {
        double s = 0.0;
        for (int64_t j = 0; j < n; j++) {
            s += x[j] > x[i] ? x[j] : 0.0;
        }
        z[i] = s;
    }
    return 0;
}
