/* Measures what a program can reach here: operations of products with sums in a second, and bytes
   of arrays that no cache holds. BYTES is the width of a vector register. */
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

typedef double doubles __attribute__((vector_size(BYTES)));
typedef float floats __attribute__((vector_size(BYTES)));

enum { CHAINS = 10, STEPS = 2000000, ELEMENTS = 1 << 24, ROUNDS = 5 };

/* Chains of products with sums that do not wait for each other. */
#define CHAIN(name, vector, element)                                         \
    static double name(void)                                                 \
    {                                                                        \
        double best = 0;                                                     \
        for (int round = 0; round < ROUNDS; round++) {                       \
            double sum = 0, begin = omp_get_wtime();                         \
            _Pragma("omp parallel reduction(+ : sum)")                       \
            {                                                                \
                vector x[CHAINS], factor, term;                              \
                for (int l = 0; l < (int)(BYTES / sizeof(element)); l++) {   \
                    factor[l] = (element)0.999999;                           \
                    term[l] = (element)1e-6;                                 \
                    for (int c = 0; c < CHAINS; c++) x[c][l] = (element)c;   \
                }                                                            \
                for (int step = 0; step < STEPS; step++)                     \
                    _Pragma("GCC unroll 10")                                 \
                    for (int c = 0; c < CHAINS; c++) x[c] = x[c] * factor + term; \
                for (int c = 0; c < CHAINS; c++) sum += (double)x[c][0];     \
            }                                                                \
            double taken = omp_get_wtime() - begin;                          \
            double rate = 2.0 * CHAINS * STEPS * (BYTES / sizeof(element))   \
                * omp_get_max_threads() / taken;                             \
            if (rate > best && sum != 0) best = rate;                        \
        }                                                                    \
        return best;                                                         \
    }

CHAIN(of_doubles, doubles, double)
CHAIN(of_floats, floats, float)

/* a = b + 3 c: two arrays are read and one is written. */
static double of_memory(void)
{
    double *a = malloc(ELEMENTS * sizeof *a), *b = malloc(ELEMENTS * sizeof *b);
    double *c = malloc(ELEMENTS * sizeof *c), best = 0;
    if (!a || !b || !c) return 0;
#pragma omp parallel for
    for (int i = 0; i < ELEMENTS; i++) {
        a[i] = 0;
        b[i] = i;
        c[i] = 1;
    }
    for (int round = 0; round < ROUNDS; round++) {
        double begin = omp_get_wtime();
#pragma omp parallel for
        for (int i = 0; i < ELEMENTS; i++) a[i] = b[i] + 3 * c[i];
        double rate = 3.0 * ELEMENTS * sizeof *a / (omp_get_wtime() - begin);
        if (rate > best && a[ELEMENTS / 2] != 0) best = rate;
    }
    free(a);
    free(b);
    free(c);
    return best;
}

int main(void)
{
    printf("%.6e %.6e %.6e\n", of_doubles(), of_floats(), of_memory());
    return 0;
}
