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

/* Whether a sum goes beyond 64 bits. */
static inline int lozenge_add_beyond(int64_t a, int64_t b) {
    int64_t r;
    return __builtin_add_overflow(a, b, &r);
}

/* Whether a difference goes beyond 64 bits. */
static inline int lozenge_sub_beyond(int64_t a, int64_t b) {
    int64_t r;
    return __builtin_sub_overflow(a, b, &r);
}

/* Quotient rounded toward negative infinity; 0 for a divisor of 0. */
static inline int64_t lozenge_floor_div(int64_t a, int64_t b) {
    if (b == 0) {
        return 0;
    }
    if (b == -1) {
        return (int64_t)(0u - (uint64_t)a);
    }
    return a / b - (a % b != 0 && (a < 0) != (b < 0));
}

static inline int64_t lozenge_min(int64_t a, int64_t b) {
    return a < b ? a : b;
}

static inline int32_t lozenge_max_i32(int32_t a, int32_t b) {
    return a > b ? a : b;
}

/* Sum of 32-bit integers that wraps around. */
static inline int32_t lozenge_add_i32(int32_t a, int32_t b) {
    return (int32_t)((uint32_t)a + (uint32_t)b);
}

/* Sum of 64-bit integers that wraps around. */
static inline int64_t lozenge_add(int64_t a, int64_t b) {
    return (int64_t)((uint64_t)a + (uint64_t)b);
}

/* products:
     a double[n][m], in
     x double[m], in
     y double[n], in and out
     z double[n], out
     s double, in and out
     h int32_t[4], in and out
   Returns 0; 1 if memory runs out; 2 if the sizes are not admissible. Arrays must not overlap. */
int products(
        int64_t n,
        int64_t m,
        const double *restrict a,
        const double *restrict x,
        double *restrict y,
        double *restrict z,
        double *restrict s,
        int32_t *restrict h) {
    #pragma omp parallel for schedule(dynamic)
    for (int64_t i = 0; i < n; i++) {
        if (0 < m) {
            double y_value = y[i];
            for (int64_t j = 0; j < m; j++) {
                y_value += a[i * m + j] * x[j];
            }
            y[i] = y_value;
        }
        z[i] = 0.0;
        {
            double z_value = z[i];
            #pragma omp simd reduction(+:z_value)
            for (int64_t j = 0; j < m; j++) {
                z_value += a[i * m + j] * x[j];
            }
            z[i] = z_value;
        }
        for (int64_t j = 0; j < m; j++) {
            if (j > i) {
                z[i] += 1.0;
            }
        }
        if (i < m) {
            double y_value = y[i];
            double z_value = z[i];
            for (int64_t j = i; j < m; j++) {
                y_value = y_value * x[j] + z_value;
            }
            y[i] = y_value;
        }
    }
    for (int64_t i = 0; i < n; i++) {
        for (int64_t k = 0; k < 2; k++) {
            h[(i + k) % 4] =
                    lozenge_add_i32(lozenge_add_i32(lozenge_add_i32(h[(i + k) % 4], 3), 3), 3);
            for (int64_t j = 0; j < m; j++) {
                y[i] = x[j] + y[n - 1 - i];
            }
        }
        if (0 < m) {
            int32_t h_value = h[i % 4];
            {
                double s_value = *s;
                #pragma omp simd reduction(+:s_value) reduction(max:h_value)
                for (int64_t j = 0; j < m; j++) {
                    s_value += x[j];
                    h_value = lozenge_max_i32(h_value, 7);
                }
                *s = s_value;
            }
            h[i % 4] = h_value;
        }
    }
    return 0;
}

/* triangle:
     l double[n][n], in
     x double[n][n], in and out
   Returns 0; 1 if memory runs out; 2 if the sizes are not admissible. Arrays must not overlap. */
int triangle(int64_t n, const double *restrict l, double *restrict x) {
    if (n < 0 || lozenge_add_beyond(n, 7)) {
        return BAD_SIZES;
    }
    #pragma omp parallel for schedule(dynamic)
    for (int64_t i = 0; i < n; i++) {
        for (int64_t j = 0; j < i + 1; j++) {
            {
                double l_value = l[i * n + j];
                for (int64_t k = j; k < n; k++) {
                    x[i * n + k] += l_value;
                }
            }
        }
    }
    #pragma omp parallel for
    for (int64_t t = 0; t < n; t += 8) {
        for (int64_t i = t; i < lozenge_min(n, t + 8); i++) {
            for (int64_t j = 0; j < n; j++) {
                x[i * n + j] *= 2.0;
            }
        }
    }
    #pragma omp parallel for schedule(dynamic)
    for (int64_t t = 0; t < n; t += 8) {
        for (int64_t i = t; i < lozenge_min(n, t + 8); i++) {
            for (int64_t j = i; j < n; j++) {
                x[i * n + j] += 1.0;
            }
        }
    }
    #pragma omp parallel for
    for (int64_t t = 0; t < n; t += 8) {
        for (int64_t i = 0; i < lozenge_min(8, n - t); i++) {
            x[(t + i) * n] += 1.0;
        }
    }
    return 0;
}

/* tiles:
     x int64_t[4], out
   Returns 0; 1 if memory runs out; 2 if the sizes are not admissible. Arrays must not overlap. */
int tiles(int64_t n, int64_t m, int64_t *restrict x) {
    if (lozenge_sub_beyond(n, 1) || lozenge_sub_beyond(n, 9) || lozenge_sub_beyond(m, 5)
            || lozenge_sub_beyond(n, m)) {
        return BAD_SIZES;
    }
    for (int64_t i = 0; i < 4; i++) {
        x[i] = 0;
    }
    if (0 < lozenge_floor_div(n - 1, 8) + 1) {
        int64_t x_value = x[0];
        for (int64_t t = 0; t < (n + 7) / 8; t++) {
            x_value = lozenge_add(x_value, t);
        }
        x[0] = x_value;
    }
    if (0 < lozenge_min(lozenge_floor_div(n - 9, 4) + 1, lozenge_floor_div(m - 5, 3))) {
        int64_t x_value = x[1];
        for (int64_t t = 0; t < lozenge_min((n - 5) / 4, (m - 5) / 3); t++) {
            x_value = lozenge_add(x_value, t + 1);
        }
        x[1] = x_value;
    }
    if (-1 < lozenge_floor_div(n - 9, 4)) {
        int64_t x_value = x[2];
        for (int64_t t = -1; t < (n - 9) / 4; t++) {
            x_value = lozenge_add(x_value, t + 10);
        }
        x[2] = x_value;
    }
    if (0 < lozenge_floor_div(n - m, 2)) {
        int64_t x_value = x[3];
        for (int64_t t = 0; t < (n - m) / 2; t++) {
            x_value = lozenge_add(x_value, 1);
        }
        x[3] = x_value;
    }
    return 0;
}
