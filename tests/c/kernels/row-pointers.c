/* y = A^T x with pointers to rows. */
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

static void kernel_row_pointers(int m, int n, DATA_TYPE (*restrict A)[n], DATA_TYPE *restrict x,
                                DATA_TYPE *restrict y)
{
#pragma scop
  for (int j = 0; j < n; j++)
    y[j] = 0;
  for (int i = 0; i < m; i++)
    for (int j = 0; j < n; j++)
      y[j] += A[i][j] * x[i];
#pragma endscop
}

int main(int argc, char **argv)
{
  int m = SIZE(M);
  int n = SIZE(N);
  DATA_TYPE (*A)[n] = harness_alloc((size_t)m * (size_t)n, sizeof(DATA_TYPE));
  DATA_TYPE *x = harness_alloc((size_t)m, sizeof(DATA_TYPE));
  DATA_TYPE *y = harness_alloc((size_t)n, sizeof(DATA_TYPE));
  harness_open(argc, argv);
  for (int rep = 0; rep < REPS; rep++) {
    for (size_t k = 0; k < (size_t)m * (size_t)n; k++)
      ((DATA_TYPE *)A)[k] = (DATA_TYPE)harness_unit(1, k);
    for (size_t k = 0; k < (size_t)m; k++)
      x[k] = (DATA_TYPE)harness_unit(2, k);
    memset(y, 0, (size_t)n * sizeof(DATA_TYPE));
    harness_start();
    kernel_row_pointers(m, n, A, x, y);
    harness_stop();
  }
  OUTPUT("y", (DATA_TYPE *)y, (size_t)n);
  free(A);
  free(x);
  free(y);
  return harness_finish("row-pointers");
}
