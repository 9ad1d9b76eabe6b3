/* A three-point average in one dimension, two arrays in turn. */
#include "harness.h"

#ifndef DATA_TYPE
#define DATA_TYPE double
#endif
#ifdef LARGE
#define TSTEPS_DEFAULT 500
#define N_DEFAULT 2000
#else
#define TSTEPS_DEFAULT 20
#define N_DEFAULT 30
#endif
#ifndef TSTEPS
#define TSTEPS TSTEPS_DEFAULT
#endif
#ifndef N
#define N N_DEFAULT
#endif

static void kernel_jacobi_1d(int tsteps, int n, DATA_TYPE A[restrict n], DATA_TYPE B[restrict n])
{
  DATA_TYPE third = 0.33333;
#pragma scop
  for (int t = 0; t < tsteps; t++) {
    for (int i = 1; i < n - 1; i++)
      B[i] = third * (A[i - 1] + A[i] + A[i + 1]);
    for (int i = 1; i < n - 1; i++)
      A[i] = third * (B[i - 1] + B[i] + B[i + 1]);
  }
#pragma endscop
}

int main(int argc, char **argv)
{
  int tsteps = SIZE(TSTEPS);
  int n = SIZE(N);
  DATA_TYPE *A = harness_alloc((size_t)n, sizeof(DATA_TYPE));
  DATA_TYPE *B = harness_alloc((size_t)n, sizeof(DATA_TYPE));
  harness_open(argc, argv);
  for (int rep = 0; rep < REPS; rep++) {
    for (size_t k = 0; k < (size_t)n; k++)
      A[k] = (DATA_TYPE)harness_unit(1, k);
    for (size_t k = 0; k < (size_t)n; k++)
      B[k] = (DATA_TYPE)harness_unit(2, k);
    harness_start();
    kernel_jacobi_1d(tsteps, n, A, B);
    harness_stop();
  }
  OUTPUT("A", (DATA_TYPE *)A, (size_t)n);
  OUTPUT("B", (DATA_TYPE *)B, (size_t)n);
  free(A);
  free(B);
  return harness_finish("jacobi-1d");
}
