/* A sparse matrix by rows (CSR) times a vector: where a row begins and ends is data. Some rows are empty. */
#include "harness.h"

#ifndef DATA_TYPE
#define DATA_TYPE double
#endif
#ifdef LARGE
#define N_DEFAULT 1000000
#define M_DEFAULT 32
#else
#define N_DEFAULT 53
#define M_DEFAULT 9
#endif
#ifndef N
#define N N_DEFAULT
#endif
#ifndef M
#define M M_DEFAULT
#endif

static void kernel_spmv(int n, const int row[restrict n + 1], const int *restrict column,
                        const DATA_TYPE *restrict value, const DATA_TYPE *restrict x, DATA_TYPE y[restrict n],
                        DATA_TYPE z[restrict n])
{
#pragma scop
  for (int i = 0; i < n; i++) {
    y[i] = 0;
    for (int k = row[i]; k < row[i + 1]; k++)
      y[i] += value[k] * x[column[k]];
  }
  for (int i = 0; i < n; i++) {
    DATA_TYPE sum = 0;
    int first = row[i], last = row[i + 1] - 1;
    for (int k = first; k <= last; k++)
      sum += value[k] * y[column[k]];
    z[i] = sum;
  }
#pragma endscop
}

int main(int argc, char **argv)
{
  int n = SIZE(N), m = SIZE(M);
  int *row = harness_alloc((size_t)n + 1, sizeof(int));
  for (int i = 0; i < n; i++)
    row[i + 1] = row[i] + (harness_below(1, (uint64_t)i, 4) == 0 ? 0 : harness_below(2, (uint64_t)i, m + 1));
  size_t size = (size_t)row[n];
  int *column = harness_alloc(size, sizeof(int));
  DATA_TYPE *value = harness_alloc(size, sizeof(DATA_TYPE));
  DATA_TYPE *x = harness_alloc((size_t)n, sizeof(DATA_TYPE));
  DATA_TYPE *y = harness_alloc((size_t)n, sizeof(DATA_TYPE));
  DATA_TYPE *z = harness_alloc((size_t)n, sizeof(DATA_TYPE));
  harness_open(argc, argv);
  for (size_t k = 0; k < size; k++) {
    value[k] = (DATA_TYPE)(harness_unit(3, k) - 0.5);
    column[k] = harness_below(4, k, n);
  }
  for (size_t k = 0; k < (size_t)n; k++)
    x[k] = (DATA_TYPE)harness_unit(5, k);
  for (int rep = 0; rep < REPS; rep++) {
    memset(y, 0, (size_t)n * sizeof(DATA_TYPE));
    memset(z, 0, (size_t)n * sizeof(DATA_TYPE));
    harness_start();
    kernel_spmv(n, row, column, value, x, y, z);
    harness_stop();
  }
  OUTPUT("y", y, n);
  OUTPUT("z", z, n);
  free(row);
  free(column);
  free(value);
  free(x);
  free(y);
  free(z);
  return harness_finish("spmv");
}
