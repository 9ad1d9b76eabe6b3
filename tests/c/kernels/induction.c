/* Counters that loops advance, and loop variables that are read and set between loops. */
#include "harness.h"

#ifndef DATA_TYPE
#define DATA_TYPE double
#endif
#ifdef LARGE
#define N_DEFAULT 2000
#define M_DEFAULT 1500
#else
#define N_DEFAULT 19
#define M_DEFAULT 26
#endif
#ifndef N
#define N N_DEFAULT
#endif
#ifndef M
#define M M_DEFAULT
#endif

static int kernel_induction(int n, int m, DATA_TYPE A[restrict n][m], DATA_TYPE *restrict x,
                            DATA_TYPE *restrict y, DATA_TYPE *restrict flat)
{
  int i, j, k = -1, last, t;
#pragma scop
  for (i = 0; i < n; i++) {
    k++;
    x[k] = y[i];
    k++;
    x[k] = 2 * y[i] + k;
  }
  k = n;
  for (i = 0; i < n; i++)
    y[--k] = x[i] + 1;
  t = 0;
  for (i = 0; i < n; i++)
    for (j = 0; j < m; j++)
      flat[t++] = A[i][j] + x[i];
  for (j = 0; j < m; j++) {
    i = 0;
    if (n > 0)
      A[i][j] += 1;
    for (i = 1; i < n - 1; i++)
      A[i][j] += A[i - 1][j] * 0.5;
    if (n > 1) {
      A[i][j] -= 3;
      i = 0;
      A[i + 1][j] *= 2;
    }
  }
  for (i = 0; i < n - 3; i += 4) {
    x[i] += 1;
    x[i + 1] += 2;
    x[i + 2] += 3;
    x[i + 3] += 4;
  }
  for (; i < n; i++)
    x[i] += 10;
  last = 0;
  for (i = 0, k = 0; i < n; i++, k += 2) {
    last = k;
    x[last] += 1;
  }
  for (i = n - 1, j = 0; i >= 0; i -= 3)
    y[j++] += 4;
#pragma endscop
  return k + j + i + t;
}

int main(int argc, char **argv)
{
  int n = SIZE(N);
  int m = SIZE(M);
  size_t count = (size_t)n * (size_t)m;
  DATA_TYPE(*A)[m] = harness_alloc(count, sizeof(DATA_TYPE));
  DATA_TYPE *x = harness_alloc(2 * (size_t)n + 8, sizeof(DATA_TYPE));
  DATA_TYPE *y = harness_alloc((size_t)n + 8, sizeof(DATA_TYPE));
  DATA_TYPE *flat = harness_alloc(count, sizeof(DATA_TYPE));
  int end = 0;
  harness_open(argc, argv);
  for (int rep = 0; rep < REPS; rep++) {
    for (int i = 0; i < n; i++)
      for (int j = 0; j < m; j++)
        A[i][j] = (DATA_TYPE)harness_unit(1, (uint64_t)i * m + j);
    for (int i = 0; i < 2 * n; i++)
      x[i] = (DATA_TYPE)harness_unit(2, i);
    for (int i = 0; i < n; i++)
      y[i] = (DATA_TYPE)harness_unit(3, i);
    memset(flat, 0, count * sizeof(DATA_TYPE));
    harness_start();
    end = kernel_induction(n, m, A, x, y, flat);
    harness_stop();
  }
  x[2 * n] = end;
  OUTPUT("A", (DATA_TYPE *)A, count);
  OUTPUT("x", (DATA_TYPE *)x, 2 * (size_t)n + 1);
  OUTPUT("y", (DATA_TYPE *)y, (size_t)n);
  OUTPUT("flat", (DATA_TYPE *)flat, count);
  free(A);
  free(x);
  free(y);
  free(flat);
  return harness_finish("induction");
}
