/* y = A x of 64-bit integers, with integer quotients and remainders of data. */
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

static void kernel_lgemv(int m, int n, long A[restrict m][n], int x[restrict n], long y[restrict m])
{
#pragma scop
  for (int i = 0; i < m; i++) {
    y[i] = i - 5L;
    for (int j = 0; j < n; j++)
      y[i] += A[i][j] / 3 * x[j] - A[i][j] % 7;
  }
#pragma endscop
}

int main(int argc, char **argv)
{
  int m = SIZE(M);
  int n = SIZE(N);
  long (*A)[n] = harness_alloc((size_t)m * (size_t)n, sizeof(long));
  int *x = harness_alloc((size_t)n, sizeof(int));
  long *y = harness_alloc((size_t)m, sizeof(long));
  harness_open(argc, argv);
  for (int rep = 0; rep < REPS; rep++) {
    for (size_t k = 0; k < (size_t)m * (size_t)n; k++)
      ((long *)A)[k] = harness_below(1, k, 2001) - 1000;
    for (size_t k = 0; k < (size_t)n; k++)
      x[k] = (int)(harness_below(2, k, 7));
    memset(y, 0, (size_t)m * sizeof(long));
    harness_start();
    kernel_lgemv(m, n, A, x, y);
    harness_stop();
  }
  OUTPUT("y", (long *)y, (size_t)m);
  free(A);
  free(x);
  free(y);
  return harness_finish("lgemv");
}
