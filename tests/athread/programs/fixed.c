/* A matrix times a vector, w = w + A x, with extents that are numbers. */
#include "../../c/kernels/harness.h"
#define N 397

static void kernel_fixed(double A[restrict N][N], double x[restrict N], double w[restrict N])
{
#pragma scop
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++)
      w[i] = w[i] + A[i][j] * x[j];
#pragma endscop
}

int main(int argc, char **argv)
{
  double *A = harness_alloc((size_t)N * N, sizeof(double)), *x = harness_alloc(N, sizeof(double));
  double *w = harness_alloc(N, sizeof(double));
  harness_open(argc, argv);
  for (size_t k = 0; k < (size_t)N * N; k++)
    A[k] = harness_unit(1, k);
  for (size_t k = 0; k < N; k++)
    x[k] = harness_unit(2, k), w[k] = harness_unit(3, k);
  harness_start();
  kernel_fixed((void *)A, x, w);
  harness_stop();
  OUTPUT("w", w, N);
  free(A), free(x), free(w);
  return harness_finish("fixed");
}
