/* Scalars declared before the region and dead after it, used at several depths (C89); chained assignments, turned subscripts, counting down. */
#include "harness.h"
#include <math.h>

#ifndef DATA_TYPE
#define DATA_TYPE double
#endif
#ifdef LARGE
#define N_DEFAULT 1000
#else
#define N_DEFAULT 40
#endif
#ifndef N
#define N N_DEFAULT
#endif

static void kernel_outer_scalars(int n, DATA_TYPE A[restrict n][n], DATA_TYPE x[restrict n],
                                 DATA_TYPE y[restrict n])
{
  DATA_TYPE s, t;
  int i;
#pragma scop
  for (int j = 0; j < n; j++) {
    s = A[j][j];
    for (int k = 0; k < j; k++)
      s -= A[j][k] * A[j][k];
    A[j][j] = sqrt(s);
    for (i = j + 1; i < n; i++) {
      s = A[i][j];
      for (int k = 0; k < j; k++)
        s -= A[i][k] * A[j][k];
      A[i][j] = s / A[j][j];
    }
  }
  for (i = 0; i < n; i++) {
    s = x[i];
    for (int k = 0; k < i; k++)
      s -= k[A[i]] * k[x];
    x[i] = y[i] = s / A[i][i];
  }
  for (i = n; i-- > 0;) {
    s = y[i];
    for (int k = i + 1; k < n; k++)
      s -= A[k][i] * y[k];
    t = s / i[i[A]];
    i[y] = t;
    for (int k = 0; k < i; k++) {
      t = A[i][k] + 1;
      A[k][i] = t * t;
    }
  }
#pragma endscop
}

int main(int argc, char **argv)
{
  int n = SIZE(N);
  DATA_TYPE (*A)[n] = harness_alloc((size_t)n * (size_t)n, sizeof(DATA_TYPE));
  DATA_TYPE *x = harness_alloc((size_t)n, sizeof(DATA_TYPE));
  DATA_TYPE *y = harness_alloc((size_t)n, sizeof(DATA_TYPE));
  harness_open(argc, argv);
  for (int rep = 0; rep < REPS; rep++) {
    for (int i = 0; i < n; i++) {
      for (int j = 0; j < n; j++)
        A[i][j] = (DATA_TYPE)harness_unit(1, (size_t)i * (size_t)n + (size_t)j) + (i == j ? n : 0);
      x[i] = (DATA_TYPE)harness_unit(2, (size_t)i);
      y[i] = 0;
    }
    harness_start();
    kernel_outer_scalars(n, A, x, y);
    harness_stop();
  }
  OUTPUT("A", (DATA_TYPE *)A, (size_t)n * (size_t)n);
  OUTPUT("x", x, (size_t)n);
  OUTPUT("y", y, (size_t)n);
  free(A);
  free(x);
  free(y);
  return harness_finish("outer-scalars");
}
