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

/* Whether a sum goes beyond 64 bits. */
static inline int lozenge_add_beyond(int64_t a, int64_t b) {
    int64_t r;
    return __builtin_add_overflow(a, b, &r);
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

static inline int64_t lozenge_min(int64_t a, int64_t b) {
    return a < b ? a : b;
}

/* Sum of 64-bit integers that wraps around. */
static inline int64_t lozenge_add(int64_t a, int64_t b) {
    return (int64_t)((uint64_t)a + (uint64_t)b);
}

/* Difference of 64-bit integers that wraps around. */
static inline int64_t lozenge_sub(int64_t a, int64_t b) {
    return (int64_t)((uint64_t)a - (uint64_t)b);
}

/* blocks:
     a double[n][m], in and out
     limit int64_t, in
     tail int64_t, in and out
   Returns 0; 1 if memory runs out; 2 if the sizes are not admissible. Arrays must not overlap. */
int blocks(
        int64_t n,
        int64_t m,
        int64_t s,
        double *restrict a,
        int64_t limit,
        int64_t *restrict tail) {
    int status = OK;
    for (int64_t step = 0; step < s; step++) {
        #pragma omp parallel
        {
            int thread_status = OK;
            double *restrict t = lozenge_alloc(m, sizeof(double));
            if (t == NULL) {
                thread_status = OUT_OF_MEMORY;
            }
            #pragma omp for
            for (int64_t i = 0; i < n; i++) {
                if (thread_status != OK) {
                    continue;
                }
                for (int64_t j = 0; j < m; j++) {
                    t[j] = a[i * m + j] + 1.0;
                }
                for (int64_t j = 0; j < m; j++) {
                    a[i * m + j] = t[m - 1 - j] * 0.5;
                }
            }
            if (thread_status != OK) {
                #pragma omp atomic write
                status = thread_status;
            }
            free(t);
        }
        if (status != OK) {
            break;
        }
    }
    if (status != OK) {
        return status;
    }
    *tail = limit;
    {
        const int64_t i_end = *tail;
        for (int64_t i = 0; i < i_end; i++) {
            *tail = lozenge_sub(*tail, 1);
        }
    }
    return status;
}

/* shadowed:
     x int64_t[n], out
   Returns 0; 1 if memory runs out; 2 if the sizes are not admissible. Arrays must not overlap. */
int shadowed(int64_t n, int64_t *restrict x) {
    if (n < 1) {
        return BAD_SIZES;
    }
    for (int64_t i = 0; i < n; i++) {
        x[i] = (n - i) / 4 + (n - i) % 3;
        {
            int64_t x_value = x[i];
            for (int64_t n_2 = 0; n_2 < 3; n_2++) {
                x_value =
                        lozenge_add(x_value,
                        lozenge_floor_div(n_2 - i, 4) + lozenge_mod(n_2 - i, 3));
            }
            x[i] = x_value;
        }
        for (int64_t i_2 = 0; i_2 < i; i_2++) {
            x[i_2] = lozenge_add(x[i_2], lozenge_floor_div(i_2 - 2, 4));
        }
    }
    return 0;
}

/* joined:
     x double[n][m], in
     y double[n * m], out
     z int64_t[4], out
   Returns 0; 1 if memory runs out; 2 if the sizes are not admissible. Arrays must not overlap. */
int joined(
        int64_t n,
        int64_t m,
        const double *restrict x,
        double *restrict y,
        int64_t *restrict z) {
    if (n < 0 || m < 0 || (lozenge_add_beyond(n, n * m) || lozenge_add_beyond(m, 1))) {
        return BAD_SIZES;
    }
    for (int64_t i = 0; i < n * m; i++) {
        y[i] = x[i];
    }
    for (int64_t i = n; i < n + n * m; i++) {
        y[i - n] += x[i - n] * 2.0;
    }
    for (int64_t i = 0; i < 4; i++) {
        z[i] = (i + 3) % (m + 1) + lozenge_floor_div(i - 1, 2);
    }
    if (m > 0 && n >= 2) {
        z[1] = lozenge_add(z[1], (n - 2) / m);
    } else {
        z[1] = lozenge_add(z[1], lozenge_floor_div(n - 2, 3));
    }
    for (int64_t i = 0; i < lozenge_min(4, (m - 3) / 2); i++) {
        z[i] = lozenge_add(z[i], (m - 4) / 5);
    }
    return 0;
}
