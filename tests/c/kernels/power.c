/* Steps of a power iteration, and of conjugate gradients: what a product makes anew in each step is read in the next loop of the step. */
#include "harness.h"

#ifdef LARGE
#define N_DEFAULT 1600
#else
#define N_DEFAULT 70
#endif
#ifndef N
#define N N_DEFAULT
#endif

static void kernel_power(int n, const double A[restrict n][n], double *restrict p, double *restrict q,
                         double *restrict r)
{
#pragma scop
  for (int t = 0; t < 6; t++) {
    for (int i = 0; i < n; i++) {
      q[i] = 0;
      for (int j = 0; j < n; j++)
        q[i] += A[i][j] * p[j];
    }
    for (int i = 0; i < n; i++)
      p[i] = q[i] + 0.5 * p[i];
    for (int i = 0; i < n; i++)
      r[i] -= 0.25 * q[i];
  }
#pragma endscop
}

int main(int argc, char **argv)
{
  int n = SIZE(N);
  double (*A)[n] = harness_alloc((size_t)n * n, sizeof(double));
  double *p = harness_alloc((size_t)n, sizeof(double));
  double *q = harness_alloc((size_t)n, sizeof(double));
  double *r = harness_alloc((size_t)n, sizeof(double));
  harness_open(argc, argv);
  for (int rep = 0; rep < REPS; rep++) {
    for (int i = 0; i < n; i++) {
      for (int j = 0; j < n; j++)
        A[i][j] = harness_unit(1, (size_t)i * n + j) / n;
      p[i] = harness_unit(2, i);
      r[i] = harness_unit(3, i);
    }
    harness_start();
    kernel_power(n, A, p, q, r);
    harness_stop();
  }
  OUTPUT("p", p, (size_t)n);
  OUTPUT("q", q, (size_t)n);
  OUTPUT("r", r, (size_t)n);
  free(A);
  free(p);
  free(q);
  free(r);
  return harness_finish("power");
}
