/* y = A^T (A x). */
#include "harness.h"

#ifndef DATA_TYPE
#define DATA_TYPE double
#endif
#ifdef LARGE
#define M_DEFAULT 1900
#define N_DEFAULT 2100
#else
#define M_DEFAULT 38
#define N_DEFAULT 42
#endif
#ifndef M
#define M M_DEFAULT
#endif
#ifndef N
#define N N_DEFAULT
#endif

static void kernel_atax(int m, int n, DATA_TYPE A[restrict m][n], DATA_TYPE x[restrict n],
                        DATA_TYPE y[restrict n], DATA_TYPE tmp[restrict m])
{
#pragma scop
  for (int i = 0; i < n; i++)
    y[i] = 0;
  for (int i = 0; i < m; i++) {
    tmp[i] = 0;
    for (int j = 0; j < n; j++)
      tmp[i] = tmp[i] + A[i][j] * x[j];
    for (int j = 0; j < n; j++)
      y[j] = y[j] + A[i][j] * tmp[i];
  }
#pragma endscop
}

int main(int argc, char **argv)
{
  int m = SIZE(M);
  int n = SIZE(N);
  DATA_TYPE (*A)[n] = harness_alloc((size_t)m * (size_t)n, sizeof(DATA_TYPE));
  DATA_TYPE *x = harness_alloc((size_t)n, sizeof(DATA_TYPE));
  DATA_TYPE *y = harness_alloc((size_t)n, sizeof(DATA_TYPE));
  DATA_TYPE *tmp = harness_alloc((size_t)m, sizeof(DATA_TYPE));
  harness_open(argc, argv);
  for (int rep = 0; rep < REPS; rep++) {
    for (size_t k = 0; k < (size_t)m * (size_t)n; k++)
      ((DATA_TYPE *)A)[k] = (DATA_TYPE)harness_unit(1, k);
    for (size_t k = 0; k < (size_t)n; k++)
      x[k] = (DATA_TYPE)harness_unit(2, k);
    memset(y, 0, (size_t)n * sizeof(DATA_TYPE));
    memset(tmp, 0, (size_t)m * sizeof(DATA_TYPE));
    harness_start();
    kernel_atax(m, n, A, x, y, tmp);
    harness_stop();
  }
  OUTPUT("y", (DATA_TYPE *)y, (size_t)n);
  OUTPUT("tmp", (DATA_TYPE *)tmp, (size_t)m);
  free(A);
  free(x);
  free(y);
  free(tmp);
  return harness_finish("atax");
}
