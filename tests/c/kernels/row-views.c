/* Pointers to rows in the nest, pointers that are advanced, and elements by `*(p + i)`. */
#include "harness.h"

#ifndef DATA_TYPE
#define DATA_TYPE float
#endif
#ifdef LARGE
#define N_DEFAULT 1800
#define M_DEFAULT 1600
#else
#define N_DEFAULT 21
#define M_DEFAULT 18
#endif
#ifndef N
#define N N_DEFAULT
#endif
#ifndef M
#define M M_DEFAULT
#endif

static int kernel_row_views(int n, int m, DATA_TYPE *restrict x, DATA_TYPE A[restrict n][m],
                             const DATA_TYPE *restrict b, DATA_TYPE *restrict y)
{
  DATA_TYPE *p;
  const DATA_TYPE *q = b;
#pragma scop
  for (int i = 0; i < n; i++) {
    DATA_TYPE *row = x + i * m;
    const DATA_TYPE *bias = b;
    for (int j = 0; j < m; j++)
      row[j] = row[j] * 2 + bias[j];
  }
  for (int i = 0; i < n; i++) {
    DATA_TYPE *row = A[i];
    DATA_TYPE sum = 0;
    for (int j = 0; j < m; j++)
      sum += *(row + j) * *(b + j);
    *(y + i) = sum;
    for (int j = 1; j < m; j++)
      row[j] += x[i * m + j] + *(*(A + i) + j - 1);
  }
  p = x;
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++) {
      *p += 1;
      p++;
    }
  for (int i = 0; i < m; i++)
    x[i] += *q++;
  for (int i = 0; i < n; i++) {
    DATA_TYPE *to = &y[i];
    DATA_TYPE *from = &x[i * m];
    if (m > 0)
      *to -= from[m - 1];
  }
#pragma endscop
  return (int)(p - x) + (int)(q - b);
}

int main(int argc, char **argv)
{
  int n = SIZE(N);
  int m = SIZE(M);
  size_t count = (size_t)n * (size_t)m;
  DATA_TYPE *x = harness_alloc(count + m, sizeof(DATA_TYPE));
  DATA_TYPE(*A)[m] = harness_alloc(count, sizeof(DATA_TYPE));
  DATA_TYPE *b = harness_alloc((size_t)m + 8, sizeof(DATA_TYPE));
  DATA_TYPE *y = harness_alloc((size_t)n + 8, sizeof(DATA_TYPE));
  int end = 0;
  harness_open(argc, argv);
  for (int rep = 0; rep < REPS; rep++) {
    for (size_t k = 0; k < count; k++) {
      x[k] = (DATA_TYPE)harness_unit(1, k);
      A[k / m][k % m] = (DATA_TYPE)harness_unit(2, k);
    }
    for (int j = 0; j < m; j++)
      b[j] = (DATA_TYPE)harness_unit(3, j);
    memset(y, 0, (size_t)n * sizeof(DATA_TYPE));
    harness_start();
    end = kernel_row_views(n, m, x, A, b, y);
    harness_stop();
  }
  y[n] = (DATA_TYPE)end;
  OUTPUT("x", (DATA_TYPE *)x, count);
  OUTPUT("A", (DATA_TYPE *)A, count);
  OUTPUT("y", (DATA_TYPE *)y, (size_t)n + 1);
  free(x);
  free(A);
  free(b);
  free(y);
  return harness_finish("row-views");
}
