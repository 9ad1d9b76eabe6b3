#include <stdio.h>
#include <math.h>
#include <omp.h>
#include <immintrin.h>
#include <complex.h>

struct point { double x, y; };
static inline __attribute__((always_inline)) double helper(double x) { return x * 2; }
double pure_one(double) __attribute__((const));
double declared_by_option(float, int);

#pragma omp declare simd
static void first(int n, double x[restrict n])
{
  struct point p = {1, 2};
  double scale = p.x; /* read only */
  printf("%g\n", scale);
#pragma scop
  for (int i = 0; i < n; i++)
    x[i] = scale * pure_one(x[i]) + declared_by_option(x[i], i);
#pragma endscop
}

void second(int n, double x[restrict n])
{
  for (int t = 0; t < 10; t++) {
    double last;
#pragma scop
#pragma omp parallel for
    for (int i = 0; i < n; i++) {
      last = x[i] + t;
      x[i] = sqrtf(last) + fma(x[i], 2, 1) + exp2(x[i]);
    }
#pragma endscop
#pragma scop
#pragma endscop
    last = 0;
    x[0] = last;
  }
}
