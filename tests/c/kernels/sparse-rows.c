/* Sparse matrices by rows in other forms: times a dense matrix, with long subscripts and a flat matrix, a step of Jacobi's method that leaves the diagonal out,
 * rows scaled in place, and the longest of each row. */
#include "harness.h"

#ifndef DATA_TYPE
#define DATA_TYPE double
#endif
#ifdef LARGE
#define N_DEFAULT 200000
#define M_DEFAULT 24
#define P_DEFAULT 16
#else
#define N_DEFAULT 37
#define M_DEFAULT 7
#define P_DEFAULT 6
#endif
#ifndef N
#define N N_DEFAULT
#endif
#ifndef M
#define M M_DEFAULT
#endif
#ifndef P
#define P P_DEFAULT
#endif

static void kernel_sparse_rows(int n, int p, const long row[restrict n + 1], const long *restrict column,
                               DATA_TYPE *restrict value, const DATA_TYPE *restrict B, DATA_TYPE C[restrict n][p],
                               const DATA_TYPE x[restrict n], DATA_TYPE next[restrict n],
                               DATA_TYPE most[restrict n], int which[restrict n])
{
#pragma scop
  for (int i = 0; i < n; i++)
    for (long k = row[i]; k < row[i + 1]; k++)
      for (int j = 0; j < p; j++)
        C[i][j] += value[k] * B[column[k] * p + j];
  for (int i = 0; i < n; i++) {
    DATA_TYPE rest = 0, diagonal = 1;
    for (long k = row[i]; k < row[i + 1]; k++) {
      if (column[k] == i)
        diagonal += value[k];
      else
        rest += value[k] * x[column[k]];
    }
    next[i] = (x[i] - rest) / diagonal;
  }
  for (int i = 0; i < n; i++) {
    DATA_TYPE largest = -1;
    int at = -1;
    for (long k = row[i]; k < row[i + 1]; k++) {
      if (value[k] > largest) {
        largest = value[k];
        at = k - row[i];
      }
    }
    most[i] = largest;
    which[i] = at;
  }
  for (int i = 0; i < n; i++)
    for (long k = row[i]; k < row[i + 1]; k += 2)
      value[k] = value[k] * most[i];
#pragma endscop
}

int main(int argc, char **argv)
{
  int n = SIZE(N), m = SIZE(M), p = SIZE(P);
  long *row = harness_alloc((size_t)n + 1, sizeof(long));
  for (int i = 0; i < n; i++)
    row[i + 1] = row[i] + (harness_below(1, (uint64_t)i, 3) == 0 ? 0 : harness_below(2, (uint64_t)i, m + 1));
  size_t size = (size_t)row[n];
  long *column = harness_alloc(size, sizeof(long));
  DATA_TYPE *value = harness_alloc(size, sizeof(DATA_TYPE));
  DATA_TYPE *B = harness_alloc((size_t)n * (size_t)p, sizeof(DATA_TYPE));
  DATA_TYPE *C = harness_alloc((size_t)n * (size_t)p, sizeof(DATA_TYPE));
  DATA_TYPE *x = harness_alloc((size_t)n, sizeof(DATA_TYPE));
  DATA_TYPE *next = harness_alloc((size_t)n, sizeof(DATA_TYPE));
  DATA_TYPE *most = harness_alloc((size_t)n, sizeof(DATA_TYPE));
  int *which = harness_alloc((size_t)n, sizeof(int));
  harness_open(argc, argv);
  for (int i = 0; i < n; i++)
    for (long k = row[i]; k < row[i + 1]; k++)
      column[k] = harness_below(3, (uint64_t)k, 4) == 0 ? i : harness_below(4, (uint64_t)k, n);
  for (size_t k = 0; k < (size_t)n * (size_t)p; k++)
    B[k] = (DATA_TYPE)harness_unit(5, k);
  for (size_t k = 0; k < (size_t)n; k++)
    x[k] = (DATA_TYPE)harness_unit(6, k);
  for (int rep = 0; rep < REPS; rep++) {
    for (size_t k = 0; k < size; k++)
      value[k] = (DATA_TYPE)(harness_unit(7, k) - 0.25);
    for (size_t k = 0; k < (size_t)n * (size_t)p; k++)
      C[k] = (DATA_TYPE)harness_unit(8, k);
    harness_start();
    kernel_sparse_rows(n, p, row, column, value, B, (DATA_TYPE (*)[p > 0 ? p : 1])C, x, next, most, which);
    harness_stop();
  }
  OUTPUT("value", value, size);
  OUTPUT("C", C, (size_t)n * (size_t)p);
  OUTPUT("next", next, n);
  OUTPUT("most", most, n);
  OUTPUT("which", which, n);
  free(row);
  free(column);
  free(value);
  free(B);
  free(C);
  free(x);
  free(next);
  free(most);
  free(which);
  return harness_finish("sparse-rows");
}
