/* A product of small matrices for each of many. */
#include "harness.h"

#ifndef DATA_TYPE
#define DATA_TYPE double
#endif
#ifdef LARGE
#define NB_DEFAULT 500
#define N_DEFAULT 32
#else
#define NB_DEFAULT 6
#define N_DEFAULT 8
#endif
#ifndef NB
#define NB NB_DEFAULT
#endif
#ifndef N
#define N N_DEFAULT
#endif

static void kernel_batched_gemm(int nb, int n, DATA_TYPE C[restrict nb][n][n],
                                DATA_TYPE A[restrict nb][n][n], DATA_TYPE B[restrict nb][n][n])
{
#pragma scop
  for (int b = 0; b < nb; b++)
    for (int i = 0; i < n; i++)
      for (int j = 0; j < n; j++) {
        DATA_TYPE sum = 0;
        for (int k = 0; k < n; k++)
          sum += A[b][i][k] * B[b][k][j];
        C[b][i][j] = sum;
      }
#pragma endscop
}

int main(int argc, char **argv)
{
  int nb = SIZE(NB);
  int n = SIZE(N);
  DATA_TYPE (*C)[n][n] = harness_alloc((size_t)nb * (size_t)n * (size_t)n, sizeof(DATA_TYPE));
  DATA_TYPE (*A)[n][n] = harness_alloc((size_t)nb * (size_t)n * (size_t)n, sizeof(DATA_TYPE));
  DATA_TYPE (*B)[n][n] = harness_alloc((size_t)nb * (size_t)n * (size_t)n, sizeof(DATA_TYPE));
  harness_open(argc, argv);
  for (int rep = 0; rep < REPS; rep++) {
    memset(C, 0, (size_t)nb * (size_t)n * (size_t)n * sizeof(DATA_TYPE));
    for (size_t k = 0; k < (size_t)nb * (size_t)n * (size_t)n; k++)
      ((DATA_TYPE *)A)[k] = (DATA_TYPE)harness_unit(2, k);
    for (size_t k = 0; k < (size_t)nb * (size_t)n * (size_t)n; k++)
      ((DATA_TYPE *)B)[k] = (DATA_TYPE)harness_unit(3, k);
    harness_start();
    kernel_batched_gemm(nb, n, C, A, B);
    harness_stop();
  }
  OUTPUT("C", (DATA_TYPE *)C, (size_t)nb * (size_t)n * (size_t)n);
  free(C);
  free(A);
  free(B);
  return harness_finish("batched-gemm");
}
