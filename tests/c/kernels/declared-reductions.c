/* Reductions that the program declares, as its own pragma or as a clause of OpenMP: their updates may be made in any order. */
#include "harness.h"

#ifndef DATA_TYPE
#define DATA_TYPE double
#endif
#ifdef LARGE
#define N_DEFAULT 2000
#define M_DEFAULT 2000
#else
#define N_DEFAULT 50
#define M_DEFAULT 40
#endif
#ifndef N
#define N N_DEFAULT
#endif
#ifndef M
#define M M_DEFAULT
#endif

static void kernel_declared(int n, int m, DATA_TYPE A[restrict n][m], DATA_TYPE x[restrict n], int w[restrict n],
                            DATA_TYPE columns[restrict m], DATA_TYPE rows[restrict n], DATA_TYPE result[restrict 4])
{
  DATA_TYPE sum = 0.5, largest = -1;
  int least = 9;
#pragma scop
#pragma lozenge reduction(+: sum)
  for (int i = 0; i < n; i++)
    sum += x[i] * x[i];
#pragma omp parallel for reduction(max: largest) reduction(min: least)
  for (int i = 0; i < n; i++) {
    if (x[i] > largest)
      largest = x[i];
    least = w[i] < least ? w[i] : least;
  }
  for (int j = 0; j < m; j++)
    columns[j] = 0;
#pragma lozenge reduction(+: columns)
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++)
      columns[j] += A[i][j] * x[i];
  for (int i = 0; i < n; i++) {
    DATA_TYPE row = 0;
#pragma omp simd reduction(-: row)
    for (int j = 0; j < m; j++)
      row -= A[i][j];
    rows[i] = row;
  }
#pragma endscop
  result[0] = sum;
  result[1] = largest;
  result[2] = least;
}

int main(int argc, char **argv)
{
  int n = SIZE(N);
  int m = SIZE(M);
  DATA_TYPE *A = harness_alloc((size_t)n * (size_t)m, sizeof(DATA_TYPE));
  DATA_TYPE *x = harness_alloc((size_t)n, sizeof(DATA_TYPE));
  int *w = harness_alloc((size_t)n, sizeof(int));
  DATA_TYPE *columns = harness_alloc((size_t)m, sizeof(DATA_TYPE));
  DATA_TYPE *rows = harness_alloc((size_t)n, sizeof(DATA_TYPE));
  DATA_TYPE *result = harness_alloc((size_t)4, sizeof(DATA_TYPE));
  harness_open(argc, argv);
  for (int rep = 0; rep < REPS; rep++) {
    for (size_t k = 0; k < (size_t)n * (size_t)m; k++)
      A[k] = (DATA_TYPE)harness_unit(1, k);
    for (size_t k = 0; k < (size_t)n; k++)
      x[k] = (DATA_TYPE)(harness_unit(2, k) - 0.5);
    for (size_t k = 0; k < (size_t)n; k++)
      w[k] = harness_below(3, k, 7);
    memset(columns, 0, (size_t)m * sizeof(DATA_TYPE));
    memset(rows, 0, (size_t)n * sizeof(DATA_TYPE));
    memset(result, 0, (size_t)4 * sizeof(DATA_TYPE));
    harness_start();
    kernel_declared(n, m, (void *)A, x, w, columns, rows, result);
    harness_stop();
  }
  OUTPUT("A", A, (size_t)n * (size_t)m);
  OUTPUT("x", x, (size_t)n);
  OUTPUT("w", w, (size_t)n);
  OUTPUT("columns", columns, (size_t)m);
  OUTPUT("rows", rows, (size_t)n);
  OUTPUT("result", result, (size_t)4);
  free(A);
  free(x);
  free(w);
  free(columns);
  free(rows);
  free(result);
  return harness_finish("declared-reductions");
}
