/* A scalar product: one reduction. */
#include "harness.h"

#ifndef DATA_TYPE
#define DATA_TYPE double
#endif
#ifdef LARGE
#define N_DEFAULT 10000000
#else
#define N_DEFAULT 1000
#endif
#ifndef N
#define N N_DEFAULT
#endif

static void kernel_dot(int n, DATA_TYPE x[restrict n], DATA_TYPE y[restrict n], DATA_TYPE result[restrict 1])
{
#pragma scop
  result[0] = 0;
  for (int i = 0; i < n; i++)
    result[0] += x[i] * y[i];
#pragma endscop
}

int main(int argc, char **argv)
{
  int n = SIZE(N);
  DATA_TYPE *x = harness_alloc((size_t)n, sizeof(DATA_TYPE));
  DATA_TYPE *y = harness_alloc((size_t)n, sizeof(DATA_TYPE));
  DATA_TYPE *result = harness_alloc((size_t)1, sizeof(DATA_TYPE));
  harness_open(argc, argv);
  for (int rep = 0; rep < REPS; rep++) {
    for (size_t k = 0; k < (size_t)n; k++)
      x[k] = (DATA_TYPE)harness_unit(1, k);
    for (size_t k = 0; k < (size_t)n; k++)
      y[k] = (DATA_TYPE)harness_unit(2, k);
    memset(result, 0, (size_t)1 * sizeof(DATA_TYPE));
    harness_start();
    kernel_dot(n, x, y, result);
    harness_stop();
  }
  OUTPUT("result", (DATA_TYPE *)result, (size_t)1);
  free(x);
  free(y);
  free(result);
  return harness_finish("dot");
}
