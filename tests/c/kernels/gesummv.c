/* y = alpha A x + beta B x. */
#include "harness.h"

#ifndef DATA_TYPE
#define DATA_TYPE double
#endif
#ifdef LARGE
#define N_DEFAULT 1300
#else
#define N_DEFAULT 30
#endif
#ifndef N
#define N N_DEFAULT
#endif

static void kernel_gesummv(int n, DATA_TYPE alpha, DATA_TYPE beta, DATA_TYPE A[restrict n][n],
                           DATA_TYPE B[restrict n][n], DATA_TYPE tmp[restrict n], DATA_TYPE x[restrict n],
                           DATA_TYPE y[restrict n])
{
#pragma scop
  for (int i = 0; i < n; i++) {
    tmp[i] = 0;
    y[i] = 0;
    for (int j = 0; j < n; j++) {
      tmp[i] = A[i][j] * x[j] + tmp[i];
      y[i] = B[i][j] * x[j] + y[i];
    }
    y[i] = alpha * tmp[i] + beta * y[i];
  }
#pragma endscop
}

int main(int argc, char **argv)
{
  int n = SIZE(N);
  DATA_TYPE alpha = 1.5;
  DATA_TYPE beta = 1.25;
  DATA_TYPE (*A)[n] = harness_alloc((size_t)n * (size_t)n, sizeof(DATA_TYPE));
  DATA_TYPE (*B)[n] = harness_alloc((size_t)n * (size_t)n, sizeof(DATA_TYPE));
  DATA_TYPE *tmp = harness_alloc((size_t)n, sizeof(DATA_TYPE));
  DATA_TYPE *x = harness_alloc((size_t)n, sizeof(DATA_TYPE));
  DATA_TYPE *y = harness_alloc((size_t)n, sizeof(DATA_TYPE));
  harness_open(argc, argv);
  for (int rep = 0; rep < REPS; rep++) {
    for (size_t k = 0; k < (size_t)n * (size_t)n; k++)
      ((DATA_TYPE *)A)[k] = (DATA_TYPE)harness_unit(1, k);
    for (size_t k = 0; k < (size_t)n * (size_t)n; k++)
      ((DATA_TYPE *)B)[k] = (DATA_TYPE)harness_unit(2, k);
    memset(tmp, 0, (size_t)n * sizeof(DATA_TYPE));
    for (size_t k = 0; k < (size_t)n; k++)
      x[k] = (DATA_TYPE)harness_unit(4, k);
    memset(y, 0, (size_t)n * sizeof(DATA_TYPE));
    harness_start();
    kernel_gesummv(n, alpha, beta, A, B, tmp, x, y);
    harness_stop();
  }
  OUTPUT("tmp", (DATA_TYPE *)tmp, (size_t)n);
  OUTPUT("y", (DATA_TYPE *)y, (size_t)n);
  free(A);
  free(B);
  free(tmp);
  free(x);
  free(y);
  return harness_finish("gesummv");
}
