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

static inline int64_t lozenge_min(int64_t a, int64_t b) {
    return a < b ? a : b;
}

/* Sum of 64-bit integers that wraps around. */
static inline int64_t lozenge_add(int64_t a, int64_t b) {
    return (int64_t)((uint64_t)a + (uint64_t)b);
}

/* sums:
     a double[n], in
     k int64_t[n], in
     rounded double, in and out
     product double, out
     exact int64_t, in and out
   Returns 0; 1 if memory runs out; 2 if the sizes are not admissible. Arrays must not overlap. */
int sums(
        int64_t n,
        const double *restrict a,
        const int64_t *restrict k,
        double *restrict rounded,
        double *restrict product,
        int64_t *restrict exact) {
    {
        int threads = 0;
        #pragma omp parallel
        {
            double rounded_part;
            #pragma omp atomic
            threads += 1;
            rounded_part = 0.0;
            #pragma omp for schedule(static)
            for (int64_t i_strip = 0; i_strip < (n + 4094) / 4096; i_strip++) {
                #pragma omp simd reduction(+:rounded_part)
                for (int64_t i = i_strip * 4096 + 1; i < lozenge_min(i_strip * 4096 + 4097, n);
                        i++) {
                    rounded_part += a[i] * a[i - 1];
                }
            }
            #pragma omp for ordered schedule(static, 1)
            for (int turn = 0; turn < threads; turn++) {
                #pragma omp ordered
                {
                    *rounded += rounded_part;
                }
            }
        }
    }
    *product = 1.0;
    {
        int threads = 0;
        #pragma omp parallel
        {
            double product_part;
            #pragma omp atomic
            threads += 1;
            product_part = 1.0;
            #pragma omp for schedule(static)
            for (int64_t i_strip = 0; i_strip < (n + 4095) / 4096; i_strip++) {
                #pragma omp simd reduction(*:product_part)
                for (int64_t i = i_strip * 4096; i < lozenge_min(i_strip * 4096 + 4096, n); i++) {
                    product_part *= a[i];
                }
            }
            #pragma omp for ordered schedule(static, 1)
            for (int turn = 0; turn < threads; turn++) {
                #pragma omp ordered
                {
                    *product *= product_part;
                }
            }
        }
    }
    {
        int64_t exact_value = *exact;
        #pragma omp parallel for simd reduction(+:exact_value)
        for (int64_t i = 0; i < n; i++) {
            exact_value = lozenge_add(exact_value, k[i]);
        }
        *exact = exact_value;
    }
    return 0;
}
