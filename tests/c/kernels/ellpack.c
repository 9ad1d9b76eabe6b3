/* A sparse matrix with the same number of elements in each row (ELLPACK) times a vector. */
#include "harness.h"

#ifndef DATA_TYPE
#define DATA_TYPE double
#endif
#ifdef LARGE
#define N_DEFAULT 1000000
#define M_DEFAULT 16
#else
#define N_DEFAULT 47
#define M_DEFAULT 5
#endif
#ifndef N
#define N N_DEFAULT
#endif
#ifndef M
#define M M_DEFAULT
#endif

static void kernel_ellpack(int n, int m, const DATA_TYPE val[restrict n][m], const int col[restrict n][m],
                           const DATA_TYPE x[restrict n], DATA_TYPE y[restrict n])
{
#pragma scop
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++)
      y[i] += val[i][j] * x[col[i][j]];
#pragma endscop
}

int main(int argc, char **argv)
{
  int n = SIZE(N), m = SIZE(M);
  size_t size = (size_t)n * (size_t)m;
  DATA_TYPE *val = harness_alloc(size, sizeof(DATA_TYPE));
  int *col = harness_alloc(size, sizeof(int));
  DATA_TYPE *x = harness_alloc((size_t)n, sizeof(DATA_TYPE));
  DATA_TYPE *y = harness_alloc((size_t)n, sizeof(DATA_TYPE));
  harness_open(argc, argv);
  for (size_t k = 0; k < size; k++) {
    val[k] = (DATA_TYPE)(harness_unit(1, k) - 0.5);
    col[k] = harness_below(2, k, n);
  }
  for (size_t k = 0; k < (size_t)n; k++)
    x[k] = (DATA_TYPE)harness_unit(3, k);
  for (int rep = 0; rep < REPS; rep++) {
    for (size_t k = 0; k < (size_t)n; k++)
      y[k] = (DATA_TYPE)harness_unit(4, k);
    harness_start();
    kernel_ellpack(n, m, (const DATA_TYPE (*)[m > 0 ? m : 1])val, (const int (*)[m > 0 ? m : 1])col, x, y);
    harness_stop();
  }
  OUTPUT("y", y, n);
  free(val);
  free(col);
  free(x);
  free(y);
  return harness_finish("ellpack");
}
