/* Scalars and small arrays that each iteration has for itself, declared in the loop: its iterations are independent. */
#include "harness.h"

#ifndef DATA_TYPE
#define DATA_TYPE double
#endif
#ifdef LARGE
#define N_DEFAULT 1200
#define M_DEFAULT 1200
#else
#define N_DEFAULT 30
#define M_DEFAULT 23
#endif
#ifndef N
#define N N_DEFAULT
#endif
#ifndef M
#define M M_DEFAULT
#endif

static void kernel_private(int n, int m, DATA_TYPE A[restrict n][m], DATA_TYPE B[restrict n][m], DATA_TYPE y[restrict n])
{
#pragma scop
  for (int i = 0; i < n; i++) {
    DATA_TYPE norm = 0;
    for (int j = 0; j < m; j++)
      norm += A[i][j] * A[i][j];
    y[i] = norm + 1;
    for (int j = 1; j < m; j++) {
      DATA_TYPE low = A[i][j - 1] / y[i], high = A[i][j] / y[i];
      if (low > high) {
        const DATA_TYPE t = low;
        low = high;
        high = t;
      }
      B[i][j] = high - low;
    }
  }
  for (int i = 1; i < n - 1; i++)
    for (int j = 1; j < m - 1; j++) {
      double w[3] = {0.25, 0.5, 0.25};
      double value = 0;
      for (int k = 0; k < 3; k++)
        value += w[k] * B[i - 1][j + k - 1];
      A[i][j] = value;
    }
#pragma endscop
}

int main(int argc, char **argv)
{
  int n = SIZE(N);
  int m = SIZE(M);
  DATA_TYPE *A = harness_alloc((size_t)n * (size_t)m, sizeof(DATA_TYPE));
  DATA_TYPE *B = harness_alloc((size_t)n * (size_t)m, sizeof(DATA_TYPE));
  DATA_TYPE *y = harness_alloc((size_t)n, sizeof(DATA_TYPE));
  harness_open(argc, argv);
  for (int rep = 0; rep < REPS; rep++) {
    for (size_t k = 0; k < (size_t)n * (size_t)m; k++)
      A[k] = (DATA_TYPE)(harness_unit(1, k) - 0.5);
    for (size_t k = 0; k < (size_t)n * (size_t)m; k++)
      B[k] = (DATA_TYPE)harness_unit(2, k);
    memset(y, 0, (size_t)n * sizeof(DATA_TYPE));
    harness_start();
    kernel_private(n, m, (void *)A, (void *)B, y);
    harness_stop();
  }
  OUTPUT("A", A, (size_t)n * (size_t)m);
  OUTPUT("B", B, (size_t)n * (size_t)m);
  OUTPUT("y", y, (size_t)n);
  free(A);
  free(B);
  free(y);
  return harness_finish("private-scalars");
}
