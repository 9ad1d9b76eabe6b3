/* Sum, sum of squares, largest and smallest of a vector, in scalars that leave the region. */
#include "harness.h"
#include <math.h>

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

static void kernel_norms(int n, DATA_TYPE x[restrict n], DATA_TYPE result[restrict 4])
{
  DATA_TYPE sum = 0, squares = 0, largest = -1, smallest = 1;
#pragma scop
  for (int i = 0; i < n; i++) {
    sum += x[i];
    squares = squares + x[i] * x[i];
    largest = fmax(largest, x[i]);
    smallest = x[i] < smallest ? x[i] : smallest;
  }
#pragma endscop
  result[0] = sum;
  result[1] = squares;
  result[2] = largest;
  result[3] = smallest;
}

int main(int argc, char **argv)
{
  int n = SIZE(N);
  DATA_TYPE *x = harness_alloc((size_t)n, sizeof(DATA_TYPE));
  DATA_TYPE *result = harness_alloc((size_t)4, sizeof(DATA_TYPE));
  harness_open(argc, argv);
  for (int rep = 0; rep < REPS; rep++) {
    for (size_t k = 0; k < (size_t)n; k++)
      x[k] = (DATA_TYPE)(harness_unit(1, k) - 0.5);
    memset(result, 0, (size_t)4 * sizeof(DATA_TYPE));
    harness_start();
    kernel_norms(n, x, result);
    harness_stop();
  }
  OUTPUT("result", (DATA_TYPE *)result, (size_t)4);
  free(x);
  free(result);
  return harness_finish("norms");
}
