/* More sweeps in a time loop than can be looked at as a whole: nests are taken one by one. */
#include "harness.h"

#ifdef LARGE
#define N_DEFAULT 1000
#else
#define N_DEFAULT 40
#endif
#ifndef N
#define N N_DEFAULT
#endif

#define SWEEP(x, y, s) \
  for (int i = 1; i < n - 1; i++) \
    for (int j = 1; j < n - 1; j++) \
      y[i][j] = 0.3 * (x[i - 1][j] + x[i + s][j - 1] + x[i][j + 1]) + s;
#define THREE(s) SWEEP(a, b, s) SWEEP(b, c, 1 - s) SWEEP(c, a, s)
#define NINE THREE(0) THREE(1) THREE(0)

static void kernel_chain(int n, int t, double a[restrict n][n], double b[restrict n][n], double c[restrict n][n])
{
#pragma scop
  for (int k = 0; k < t; k++) {
    NINE NINE NINE NINE
  }
#pragma endscop
}

int main(int argc, char **argv)
{
  int n = SIZE(N), t = n / 9;
  double (*a)[n] = harness_alloc((size_t)n * n, sizeof(double));
  double (*b)[n] = harness_alloc((size_t)n * n, sizeof(double));
  double (*c)[n] = harness_alloc((size_t)n * n, sizeof(double));
  harness_open(argc, argv);
  for (int rep = 0; rep < REPS; rep++) {
    for (size_t k = 0; k < (size_t)n * n; k++) {
      ((double *)a)[k] = harness_unit(1, k) - 0.5;
      ((double *)b)[k] = harness_unit(2, k) - 0.5;
      ((double *)c)[k] = harness_unit(3, k) - 0.5;
    }
    harness_start();
    kernel_chain(n, t, a, b, c);
    harness_stop();
  }
  OUTPUT("a", (double *)a, (size_t)n * n);
  OUTPUT("b", (double *)b, (size_t)n * n);
  OUTPUT("c", (double *)c, (size_t)n * n);
  free(a);
  free(b);
  free(c);
  return harness_finish("chain");
}
