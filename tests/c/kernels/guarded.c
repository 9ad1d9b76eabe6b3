/* Conditionals on data under which statements and loops run: what they touch is touched only there. */
#include "harness.h"

#ifndef DATA_TYPE
#define DATA_TYPE double
#endif
#ifdef LARGE
#define N_DEFAULT 1500
#define M_DEFAULT 1500
#else
#define N_DEFAULT 30
#define M_DEFAULT 23
#endif
#ifndef N
#define N N_DEFAULT
#endif
#ifndef M
#define M M_DEFAULT
#endif

static void kernel_guarded(int n, int m, DATA_TYPE A[restrict n][m], DATA_TYPE B[restrict n][m], DATA_TYPE x[restrict n],
                           DATA_TYPE y[restrict n], int w[restrict n], int count[restrict n])
{
#pragma scop
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++) {
      if (A[i][j] > 0)
        B[i][j] = A[i][j];
      else
        B[i][j] -= 0.5 * A[i][j];
    }
  for (int i = 0; i < n; i++) {
    if (w[i] % 3 == 1) {
      y[i] = x[i] / w[i];
      for (int j = 0; j < m; j++)
        B[i][j] += y[i];
      count[i]++;
    }
  }
  for (int i = 1; i < n; i++)
    if (i % 2 == 0 && x[i - 1] < x[i]) {
      if (w[i] > 2 || y[i] > 0.25)
        x[i] = x[i - 1];
      y[i - 1] = x[i];
    }
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++)
      if (i * j < n && B[i][j] != 0)
        A[i][j] = 1 / B[i][j];
#pragma endscop
}

int main(int argc, char **argv)
{
  int n = SIZE(N);
  int m = SIZE(M);
  DATA_TYPE *A = harness_alloc((size_t)n * (size_t)m, sizeof(DATA_TYPE));
  DATA_TYPE *B = harness_alloc((size_t)n * (size_t)m, sizeof(DATA_TYPE));
  DATA_TYPE *x = harness_alloc((size_t)n, sizeof(DATA_TYPE));
  DATA_TYPE *y = harness_alloc((size_t)n, sizeof(DATA_TYPE));
  int *w = harness_alloc((size_t)n, sizeof(int));
  int *count = harness_alloc((size_t)n, sizeof(int));
  harness_open(argc, argv);
  for (int rep = 0; rep < REPS; rep++) {
    for (size_t k = 0; k < (size_t)n * (size_t)m; k++)
      A[k] = (DATA_TYPE)(harness_unit(1, k) - 0.5);
    for (size_t k = 0; k < (size_t)n * (size_t)m; k++)
      B[k] = (DATA_TYPE)harness_unit(2, k);
    for (size_t k = 0; k < (size_t)n; k++)
      x[k] = (DATA_TYPE)harness_unit(3, k);
    for (size_t k = 0; k < (size_t)n; k++)
      y[k] = (DATA_TYPE)harness_unit(4, k);
    for (size_t k = 0; k < (size_t)n; k++)
      w[k] = harness_below(5, k, 7);
    memset(count, 0, (size_t)n * sizeof(int));
    harness_start();
    kernel_guarded(n, m, (void *)A, (void *)B, x, y, w, count);
    harness_stop();
  }
  OUTPUT("A", A, (size_t)n * (size_t)m);
  OUTPUT("B", B, (size_t)n * (size_t)m);
  OUTPUT("x", x, (size_t)n);
  OUTPUT("y", y, (size_t)n);
  OUTPUT("w", w, (size_t)n);
  OUTPUT("count", count, (size_t)n);
  free(A);
  free(B);
  free(x);
  free(y);
  free(w);
  free(count);
  return harness_finish("guarded");
}
