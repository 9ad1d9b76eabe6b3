#include <math.h>
#include <stdbool.h>
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

enum { OK = 0, OUT_OF_MEMORY = 1, BAD_SIZES = 2 };

/* Quotient rounded toward negative infinity; 0 for a divisor of 0. */
static inline int32_t lozenge_floor_div_i32(int32_t a, int32_t b) {
    int64_t q = b == 0 ? 0 : (int64_t)a / b;
    return (int32_t)(b != 0 && (int64_t)a % b != 0 && (a < 0) != (b < 0) ? q - 1 : q);
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

/* Remainder with the sign of the divisor; the dividend for a divisor of 0. */
static inline int32_t lozenge_mod_i32(int32_t a, int32_t b) {
    int64_t r = b == 0 ? a : (int64_t)a % b;
    return (int32_t)(b != 0 && r != 0 && (r < 0) != (b < 0) ? r + b : r);
}

/* Remainder with the sign of the divisor; the dividend for a divisor of 0. */
static inline int64_t lozenge_mod(int64_t a, int64_t b) {
    if (b == 0) {
        return a;
    }
    if (b == -1) {
        return 0;
    }
    int64_t r = a % b;
    return r != 0 && (r < 0) != (b < 0) ? r + b : r;
}

static inline int32_t lozenge_min_i32(int32_t a, int32_t b) {
    return a < b ? a : b;
}

static inline int64_t lozenge_min(int64_t a, int64_t b) {
    return a < b ? a : b;
}

/* The smaller of two numbers, one that is no NaN; -0 is below +0. */
static inline float lozenge_min_f32(float a, float b) {
    union { float number; uint32_t bits; } x = { .number = a }, y = { .number = b };
    x.bits |= y.bits;
    float other = a < b || b != b ? a : b;
    return a == b ? x.number : other;
}

/* The smaller of two numbers, one that is no NaN; -0 is below +0. */
static inline double lozenge_min_f64(double a, double b) {
    union { double number; uint64_t bits; } x = { .number = a }, y = { .number = b };
    x.bits |= y.bits;
    double other = a < b || b != b ? a : b;
    return a == b ? x.number : other;
}

static inline int32_t lozenge_max_i32(int32_t a, int32_t b) {
    return a > b ? a : b;
}

static inline int64_t lozenge_max(int64_t a, int64_t b) {
    return a > b ? a : b;
}

/* The larger of a number and a bound, which is neither NaN nor -0; the bound for NaN. */
static inline float lozenge_at_least_f32(float a, float bound) {
    return a > bound ? a : bound;
}

/* The larger of a number and a bound, which is neither NaN nor -0; the bound for NaN. */
static inline double lozenge_at_least_f64(double a, double bound) {
    return a > bound ? a : bound;
}

/* Magnitude of a 64-bit integer that wraps around. */
static inline int64_t lozenge_abs(int64_t a) {
    return a < 0 ? (int64_t)(0u - (uint64_t)a) : a;
}

/* Sum of 32-bit integers that wraps around. */
static inline int32_t lozenge_add_i32(int32_t a, int32_t b) {
    return (int32_t)((uint32_t)a + (uint32_t)b);
}

/* Difference of 32-bit integers that wraps around. */
static inline int32_t lozenge_sub_i32(int32_t a, int32_t b) {
    return (int32_t)((uint32_t)a - (uint32_t)b);
}

/* Product of 32-bit integers that wraps around. */
static inline int32_t lozenge_mul_i32(int32_t a, int32_t b) {
    return (int32_t)((uint32_t)a * (uint32_t)b);
}

/* Negation of a 32-bit integer that wraps around. */
static inline int32_t lozenge_neg_i32(int32_t a) {
    return (int32_t)(0u - (uint32_t)a);
}

/* Magnitude of a 32-bit integer that wraps around. */
static inline int32_t lozenge_abs_i32(int32_t a) {
    return a < 0 ? (int32_t)(0u - (uint32_t)a) : a;
}

/* Sum of 64-bit integers that wraps around. */
static inline int64_t lozenge_add(int64_t a, int64_t b) {
    return (int64_t)((uint64_t)a + (uint64_t)b);
}

/* Difference of 64-bit integers that wraps around. */
static inline int64_t lozenge_sub(int64_t a, int64_t b) {
    return (int64_t)((uint64_t)a - (uint64_t)b);
}

/* Product of 64-bit integers that wraps around. */
static inline int64_t lozenge_mul(int64_t a, int64_t b) {
    return (int64_t)((uint64_t)a * (uint64_t)b);
}

/* floats:
     x float[n], in
     y double[n], in
     u float[n], out
     v double[n], out
   Returns 0; 1 if memory runs out; 2 if the sizes are not admissible. Arrays must not overlap. */
int floats(
        int64_t n,
        const float *restrict x,
        const double *restrict y,
        float *restrict u,
        double *restrict v) {
    #pragma omp parallel for
    for (int64_t i = 0; i < n; i++) {
        double v_value;
        float u_value = sqrtf(fabsf(x[i])) + expf(-x[i]) - logf(x[i] * x[i] + 1.0f) / tanhf(2.0f)
                - -x[i];
        u_value = lozenge_min_f32(u_value, lozenge_at_least_f32(x[i], -1.5e-10f)) + sinf(x[i])
                * cosf(x[i]) + floorf(x[i]) - ceilf(x[i]) + powf(fabsf(x[i]), 0.5f);
        v_value = sqrt(fabs(y[i])) + exp(-y[i]) - log(y[i] * y[i] + 1.0) / tanh(2.0)
                - (y[i] - (y[i] - 0.1));
        v_value = lozenge_min_f64(v_value, lozenge_at_least_f64(y[i], -INFINITY)) + sin(y[i])
                * cos(y[i]) + floor(y[i]) - ceil(y[i]) + (double)u_value + (double)i;
        v_value = y[i] > 0.0 && !(y[i] >= 3.0 || y[i] == 2.0) ? v_value : -(-v_value) * (y[i] - 1.0)
                / (y[i] / 3.0 + 7.0);
        u[i] = u_value;
        v[i] = v_value;
    }
    return 0;
}

/* integers:
     a int32_t[n], in
     b int32_t[n], in
     c int32_t[n], out
     d int64_t[n], out
     e bool[n], out
   Returns 0; 1 if memory runs out; 2 if the sizes are not admissible. Arrays must not overlap. */
int integers(
        int64_t n,
        const int32_t *restrict a,
        const int32_t *restrict b,
        int32_t *restrict c,
        int64_t *restrict d,
        bool *restrict e) {
    if (n < 0) {
        return BAD_SIZES;
    }
    for (int64_t i = 0; i < n; i++) {
        c[i] = lozenge_add_i32(lozenge_sub_i32(lozenge_mul_i32(lozenge_add_i32(a[i], b[i]), a[i]),
                lozenge_mul_i32(b[i], lozenge_neg_i32(a[i]))), lozenge_abs_i32(a[i]));
        c[i] = lozenge_add_i32(lozenge_add_i32(lozenge_add_i32(c[i],
                lozenge_max_i32(lozenge_floor_div_i32(a[i], 3), lozenge_mod_i32(b[i], 5))),
                lozenge_min_i32(a[i] / 3, b[i] % 5)), INT32_MIN);
        d[i] = lozenge_add(i / 3 + lozenge_floor_div(i - 5, 3) + i % 7 + lozenge_mod(i - 5, 7)
                + (i - 5) % 7 + (i - 5) / 7, (int64_t)a[i]);
        d[i] = lozenge_add(d[i],
                lozenge_add(lozenge_add(lozenge_add(lozenge_add(lozenge_add(lozenge_mul(lozenge_abs(lozenge_sub(d[i],
                3)), 5), 14294967296), lozenge_max(i, n - i)), lozenge_min(i, 3)),
                -9223372036854775807), 9223372036854775807));
        e[i] = a[i] < b[i] || (a[i] != 0 && !(i == 2));
        c[i] = lozenge_add_i32(lozenge_add_i32(c[i], e[i]), (int32_t)lozenge_mod(d[i], 100));
        if (!e[i]) {
            c[i] = lozenge_mul_i32(c[i], 3);
        }
        if (i == 0) {
            c[i] = lozenge_add_i32(c[i], 1);
        } else if (i == 1) {
            c[i] = lozenge_add_i32(c[i], 2);
        } else {
            c[i] = lozenge_min_i32(c[i], 2000);
        }
    }
    return 0;
}
