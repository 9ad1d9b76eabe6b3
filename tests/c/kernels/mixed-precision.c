/* y = A x accumulated in double, from floats, rounded once. */
#include "harness.h"

#ifdef LARGE
#define M_DEFAULT 1000
#define N_DEFAULT 1200
#else
#define M_DEFAULT 20
#define N_DEFAULT 30
#endif
#ifndef M
#define M M_DEFAULT
#endif
#ifndef N
#define N N_DEFAULT
#endif

static void kernel_mixed_precision(int m, int n, float A[restrict m][n], float x[restrict n],
                                   float y[restrict m])
{
#pragma scop
  for (int i = 0; i < m; i++) {
    double sum = 0.1;
    for (int j = 0; j < n; j++)
      sum += (double)A[i][j] * x[j];
    y[i] = sum * 0.5f;
  }
#pragma endscop
}

int main(int argc, char **argv)
{
  int m = SIZE(M);
  int n = SIZE(N);
  float (*A)[n] = harness_alloc((size_t)m * (size_t)n, sizeof(float));
  float *x = harness_alloc((size_t)n, sizeof(float));
  float *y = harness_alloc((size_t)m, sizeof(float));
  harness_open(argc, argv);
  for (int rep = 0; rep < REPS; rep++) {
    for (size_t k = 0; k < (size_t)m * (size_t)n; k++)
      ((float *)A)[k] = (float)harness_unit(1, k);
    for (size_t k = 0; k < (size_t)n; k++)
      x[k] = (float)harness_unit(2, k);
    memset(y, 0, (size_t)m * sizeof(float));
    harness_start();
    kernel_mixed_precision(m, n, A, x, y);
    harness_stop();
  }
  OUTPUT("y", (float *)y, (size_t)m);
  free(A);
  free(x);
  free(y);
  return harness_finish("mixed-precision");
}
