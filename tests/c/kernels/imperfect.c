/* Statements at every depth, before and after the inner loops. */
#include "harness.h"

#ifndef DATA_TYPE
#define DATA_TYPE double
#endif
#ifdef LARGE
#define N_DEFAULT 400
#define M_DEFAULT 400
#else
#define N_DEFAULT 20
#define M_DEFAULT 25
#endif
#ifndef N
#define N N_DEFAULT
#endif
#ifndef M
#define M M_DEFAULT
#endif

static void kernel_imperfect(int n, int m, DATA_TYPE A[restrict n][m], DATA_TYPE row[restrict n],
                             DATA_TYPE total[restrict 1])
{
#pragma scop
  total[0] = 1;
  for (int i = 0; i < n; i++) {
    row[i] = total[0];
    for (int j = 0; j < m; j++) {
      A[i][j] = A[i][j] + row[i];
      row[i] += A[i][j];
      if (j == m - 1)
        A[i][j] = 0;
    }
    total[0] = total[0] * 0.5 + row[i];
  }
#pragma endscop
}

int main(int argc, char **argv)
{
  int n = SIZE(N);
  int m = SIZE(M);
  DATA_TYPE (*A)[m] = harness_alloc((size_t)n * (size_t)m, sizeof(DATA_TYPE));
  DATA_TYPE *row = harness_alloc((size_t)n, sizeof(DATA_TYPE));
  DATA_TYPE *total = harness_alloc((size_t)1, sizeof(DATA_TYPE));
  harness_open(argc, argv);
  for (int rep = 0; rep < REPS; rep++) {
    for (size_t k = 0; k < (size_t)n * (size_t)m; k++)
      ((DATA_TYPE *)A)[k] = (DATA_TYPE)harness_unit(1, k);
    memset(row, 0, (size_t)n * sizeof(DATA_TYPE));
    memset(total, 0, (size_t)1 * sizeof(DATA_TYPE));
    harness_start();
    kernel_imperfect(n, m, A, row, total);
    harness_stop();
  }
  OUTPUT("A", (DATA_TYPE *)A, (size_t)n * (size_t)m);
  OUTPUT("row", (DATA_TYPE *)row, (size_t)n);
  OUTPUT("total", (DATA_TYPE *)total, (size_t)1);
  free(A);
  free(row);
  free(total);
  return harness_finish("imperfect");
}
