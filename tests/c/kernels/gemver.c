/* A2 = A + u1 v1^T + u2 v2^T; x = beta A2^T y + z; w = alpha A2 x. */
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

static void kernel_gemver(int n, DATA_TYPE alpha, DATA_TYPE beta, DATA_TYPE A[restrict n][n],
                          DATA_TYPE u1[restrict n], DATA_TYPE v1[restrict n], DATA_TYPE u2[restrict n],
                          DATA_TYPE v2[restrict n], DATA_TYPE w[restrict n], DATA_TYPE x[restrict n],
                          DATA_TYPE y[restrict n], DATA_TYPE z[restrict n])
{
#pragma scop
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      A[i][j] = A[i][j] + u1[i] * v1[j] + u2[i] * v2[j];
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      x[i] = x[i] + beta * A[j][i] * y[j];
  for (int i = 0; i < n; i++)
    x[i] = x[i] + z[i];
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      w[i] = w[i] + alpha * A[i][j] * x[j];
#pragma endscop
}

int main(int argc, char **argv)
{
  int n = SIZE(N);
  DATA_TYPE alpha = 1.5;
  DATA_TYPE beta = 1.25;
  DATA_TYPE (*A)[n] = harness_alloc((size_t)n * (size_t)n, sizeof(DATA_TYPE));
  DATA_TYPE *u1 = harness_alloc((size_t)n, sizeof(DATA_TYPE));
  DATA_TYPE *v1 = harness_alloc((size_t)n, sizeof(DATA_TYPE));
  DATA_TYPE *u2 = harness_alloc((size_t)n, sizeof(DATA_TYPE));
  DATA_TYPE *v2 = harness_alloc((size_t)n, sizeof(DATA_TYPE));
  DATA_TYPE *w = harness_alloc((size_t)n, sizeof(DATA_TYPE));
  DATA_TYPE *x = harness_alloc((size_t)n, sizeof(DATA_TYPE));
  DATA_TYPE *y = harness_alloc((size_t)n, sizeof(DATA_TYPE));
  DATA_TYPE *z = harness_alloc((size_t)n, sizeof(DATA_TYPE));
  harness_open(argc, argv);
  for (int rep = 0; rep < REPS; rep++) {
    for (size_t k = 0; k < (size_t)n * (size_t)n; k++)
      ((DATA_TYPE *)A)[k] = (DATA_TYPE)harness_unit(1, k);
    for (size_t k = 0; k < (size_t)n; k++)
      u1[k] = (DATA_TYPE)harness_unit(2, k);
    for (size_t k = 0; k < (size_t)n; k++)
      v1[k] = (DATA_TYPE)harness_unit(3, k);
    for (size_t k = 0; k < (size_t)n; k++)
      u2[k] = (DATA_TYPE)harness_unit(4, k);
    for (size_t k = 0; k < (size_t)n; k++)
      v2[k] = (DATA_TYPE)harness_unit(5, k);
    memset(w, 0, (size_t)n * sizeof(DATA_TYPE));
    memset(x, 0, (size_t)n * sizeof(DATA_TYPE));
    for (size_t k = 0; k < (size_t)n; k++)
      y[k] = (DATA_TYPE)harness_unit(8, k);
    for (size_t k = 0; k < (size_t)n; k++)
      z[k] = (DATA_TYPE)harness_unit(9, k);
    harness_start();
    kernel_gemver(n, alpha, beta, A, u1, v1, u2, v2, w, x, y, z);
    harness_stop();
  }
  OUTPUT("A", (DATA_TYPE *)A, (size_t)n * (size_t)n);
  OUTPUT("w", (DATA_TYPE *)w, (size_t)n);
  OUTPUT("x", (DATA_TYPE *)x, (size_t)n);
  free(A);
  free(u1);
  free(v1);
  free(u2);
  free(v2);
  free(w);
  free(x);
  free(y);
  free(z);
  return harness_finish("gemver");
}
