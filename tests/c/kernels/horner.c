/* A polynomial at many places, by Horner, and functions of the library. */
#include "harness.h"
#include <math.h>

#ifndef DATA_TYPE
#define DATA_TYPE double
#endif
#ifdef LARGE
#define N_DEFAULT 1000000
#define D_DEFAULT 16
#else
#define N_DEFAULT 100
#define D_DEFAULT 8
#endif
#ifndef N
#define N N_DEFAULT
#endif
#ifndef D
#define D D_DEFAULT
#endif

static void kernel_horner(int n, int d, DATA_TYPE x[restrict n], DATA_TYPE c[restrict d + 1],
                          DATA_TYPE y[restrict n])
{
#pragma scop
  for (int i = 0; i < n; i++) {
    y[i] = c[d];
    for (int k = d - 1; k >= 0; k--)
      y[i] = y[i] * x[i] + c[k];
    y[i] = sqrt(fabs(y[i])) + floor(x[i] * 4) + pow(x[i], 2) + atan2(x[i], 2);
  }
#pragma endscop
}

int main(int argc, char **argv)
{
  int n = SIZE(N);
  int d = SIZE(D);
  DATA_TYPE *x = harness_alloc((size_t)n, sizeof(DATA_TYPE));
  DATA_TYPE *c = harness_alloc((size_t)(d + 1), sizeof(DATA_TYPE));
  DATA_TYPE *y = harness_alloc((size_t)n, sizeof(DATA_TYPE));
  harness_open(argc, argv);
  for (int rep = 0; rep < REPS; rep++) {
    for (size_t k = 0; k < (size_t)n; k++)
      x[k] = (DATA_TYPE)(harness_unit(1, k) - 0.5);
    for (size_t k = 0; k < (size_t)(d + 1); k++)
      c[k] = (DATA_TYPE)harness_unit(2, k);
    memset(y, 0, (size_t)n * sizeof(DATA_TYPE));
    harness_start();
    kernel_horner(n, d, x, c, y);
    harness_stop();
  }
  OUTPUT("y", (DATA_TYPE *)y, (size_t)n);
  free(x);
  free(c);
  free(y);
  return harness_finish("horner");
}
