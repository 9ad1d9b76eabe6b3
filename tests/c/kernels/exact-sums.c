/* Updates that are the same in any order: sums, counts and extremes of integers, and fmax. */
#include "harness.h"
#include <math.h>

#ifdef LARGE
#define N_DEFAULT 20000000
#else
#define N_DEFAULT 10007
#endif
#ifndef N
#define N N_DEFAULT
#endif

static void kernel_exact_sums(int n, const int x[restrict n], const double y[restrict n], long result[restrict 4],
                              double largest[restrict 1])
{
  long sum = 0;
  int most = -1000000, count = 0;
  unsigned wraps = 7;
  double far = 0.0;
#pragma scop
  for (int i = 0; i < n; i++) {
    sum += x[i];
    wraps += (unsigned)x[i] * 2654435761u;
    if (x[i] > most)
      most = x[i];
    if (x[i] % 3 == 1)
      count++;
    far = fmax(far, fabs(y[i] - 0.25));
  }
#pragma endscop
  result[0] = sum;
  result[1] = most;
  result[2] = count;
  result[3] = (long)wraps;
  largest[0] = far;
}

int main(int argc, char **argv)
{
  int n = SIZE(N);
  int *x = harness_alloc((size_t)n, sizeof(int));
  double *y = harness_alloc((size_t)n, sizeof(double));
  long *result = harness_alloc(4, sizeof(long));
  double *largest = harness_alloc(1, sizeof(double));
  harness_open(argc, argv);
  for (int i = 0; i < n; i++) {
    x[i] = harness_below(1, (uint64_t)i, 2000000001) - 1000000000;
    y[i] = harness_unit(2, (uint64_t)i);
  }
  for (int rep = 0; rep < REPS; rep++) {
    harness_start();
    kernel_exact_sums(n, x, y, result, largest);
    harness_stop();
  }
  OUTPUT("result", result, 4);
  OUTPUT("largest", largest, 1);
  free(x);
  free(y);
  free(result);
  free(largest);
  return harness_finish("exact-sums");
}
