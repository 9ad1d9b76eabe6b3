/* Solves A x = b by L U without pivoting and two substitutions. */
#include "harness.h"

#ifndef DATA_TYPE
#define DATA_TYPE double
#endif
#ifdef LARGE
#define N_DEFAULT 2000
#else
#define N_DEFAULT 40
#endif
#ifndef N
#define N N_DEFAULT
#endif

static void kernel_ludcmp(int n, DATA_TYPE A[restrict n][n], DATA_TYPE b[restrict n],
                          DATA_TYPE x[restrict n], DATA_TYPE y[restrict n])
{
  DATA_TYPE w;
#pragma scop
  for (int i = 0; i < n; i++) {
    for (int j = 0; j < i; j++) {
      w = A[i][j];
      for (int k = 0; k < j; k++)
        w -= A[i][k] * A[k][j];
      A[i][j] = w / A[j][j];
    }
    for (int j = i; j < n; j++) {
      w = A[i][j];
      for (int k = 0; k < i; k++)
        w -= A[i][k] * A[k][j];
      A[i][j] = w;
    }
  }
  for (int i = 0; i < n; i++) {
    w = b[i];
    for (int j = 0; j < i; j++)
      w -= A[i][j] * y[j];
    y[i] = w;
  }
  for (int i = n - 1; i >= 0; i--) {
    w = y[i];
    for (int j = i + 1; j < n; j++)
      w -= A[i][j] * x[j];
    x[i] = w / A[i][i];
  }
#pragma endscop
}

int main(int argc, char **argv)
{
  int n = SIZE(N);
  DATA_TYPE (*A)[n] = harness_alloc((size_t)n * (size_t)n, sizeof(DATA_TYPE));
  DATA_TYPE *b = harness_alloc((size_t)n, sizeof(DATA_TYPE));
  DATA_TYPE *x = harness_alloc((size_t)n, sizeof(DATA_TYPE));
  DATA_TYPE *y = harness_alloc((size_t)n, sizeof(DATA_TYPE));
  harness_open(argc, argv);
  for (int rep = 0; rep < REPS; rep++) {
    for (size_t r = 0; r < (size_t)n; r++)
      for (size_t c = 0; c < (size_t)n; c++) {
        size_t low = r < c ? r : c, high = r < c ? c : r;
        ((DATA_TYPE *)A)[r * (size_t)n + c] = (DATA_TYPE)(r == c ? n : harness_unit(1, high * (size_t)n + low));
      }
    for (size_t k = 0; k < (size_t)n; k++)
      b[k] = (DATA_TYPE)harness_unit(2, k);
    memset(x, 0, (size_t)n * sizeof(DATA_TYPE));
    memset(y, 0, (size_t)n * sizeof(DATA_TYPE));
    harness_start();
    kernel_ludcmp(n, A, b, x, y);
    harness_stop();
  }
  OUTPUT("A", (DATA_TYPE *)A, (size_t)n * (size_t)n);
  OUTPUT("x", (DATA_TYPE *)x, (size_t)n);
  OUTPUT("y", (DATA_TYPE *)y, (size_t)n);
  free(A);
  free(b);
  free(x);
  free(y);
  return harness_finish("ludcmp");
}
