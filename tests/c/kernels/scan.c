/* Running sums: a recurrence in one array, then one along columns. */
#include "harness.h"

#ifndef DATA_TYPE
#define DATA_TYPE double
#endif
#ifdef LARGE
#define N_DEFAULT 2000
#define M_DEFAULT 2000
#else
#define N_DEFAULT 40
#define M_DEFAULT 30
#endif
#ifndef N
#define N N_DEFAULT
#endif
#ifndef M
#define M M_DEFAULT
#endif

static void kernel_scan(int n, int m, DATA_TYPE x[restrict n], DATA_TYPE A[restrict n][m])
{
#pragma scop
  for (int i = 1; i < n; i++)
    x[i] += x[i - 1];
  for (int i = 1; i < n; i++)
    for (int j = 0; j < m; j++)
      A[i][j] += A[i - 1][j];
#pragma endscop
}

int main(int argc, char **argv)
{
  int n = SIZE(N);
  int m = SIZE(M);
  DATA_TYPE *x = harness_alloc((size_t)n, sizeof(DATA_TYPE));
  DATA_TYPE (*A)[m] = harness_alloc((size_t)n * (size_t)m, sizeof(DATA_TYPE));
  harness_open(argc, argv);
  for (int rep = 0; rep < REPS; rep++) {
    for (size_t k = 0; k < (size_t)n; k++)
      x[k] = (DATA_TYPE)harness_unit(1, k);
    for (size_t k = 0; k < (size_t)n * (size_t)m; k++)
      ((DATA_TYPE *)A)[k] = (DATA_TYPE)harness_unit(2, k);
    harness_start();
    kernel_scan(n, m, x, A);
    harness_stop();
  }
  OUTPUT("x", (DATA_TYPE *)x, (size_t)n);
  OUTPUT("A", (DATA_TYPE *)A, (size_t)n * (size_t)m);
  free(x);
  free(A);
  return harness_finish("scan");
}
