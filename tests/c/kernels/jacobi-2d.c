/* A five-point average in two dimensions, two arrays in turn. */
#include "harness.h"

#ifndef DATA_TYPE
#define DATA_TYPE double
#endif
#ifdef LARGE
#define TSTEPS_DEFAULT 500
#define N_DEFAULT 1300
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

static void kernel_jacobi_2d(int tsteps, int n, DATA_TYPE A[restrict n][n], DATA_TYPE B[restrict n][n])
{
  DATA_TYPE fifth = 0.2;
#pragma scop
  for (int t = 0; t < tsteps; t++) {
    for (int i = 1; i < n - 1; i++)
      for (int j = 1; j < n - 1; j++)
        B[i][j] = fifth * (A[i][j] + A[i][j - 1] + A[i][1 + j] + A[1 + i][j] + A[i - 1][j]);
    for (int i = 1; i < n - 1; i++)
      for (int j = 1; j < n - 1; j++)
        A[i][j] = fifth * (B[i][j] + B[i][j - 1] + B[i][1 + j] + B[1 + i][j] + B[i - 1][j]);
  }
#pragma endscop
}

int main(int argc, char **argv)
{
  int tsteps = SIZE(TSTEPS);
  int n = SIZE(N);
  DATA_TYPE (*A)[n] = harness_alloc((size_t)n * (size_t)n, sizeof(DATA_TYPE));
  DATA_TYPE (*B)[n] = harness_alloc((size_t)n * (size_t)n, sizeof(DATA_TYPE));
  harness_open(argc, argv);
  for (int rep = 0; rep < REPS; rep++) {
    for (size_t k = 0; k < (size_t)n * (size_t)n; k++)
      ((DATA_TYPE *)A)[k] = (DATA_TYPE)harness_unit(1, k);
    for (size_t k = 0; k < (size_t)n * (size_t)n; k++)
      ((DATA_TYPE *)B)[k] = (DATA_TYPE)harness_unit(2, k);
    harness_start();
    kernel_jacobi_2d(tsteps, n, A, B);
    harness_stop();
  }
  OUTPUT("A", (DATA_TYPE *)A, (size_t)n * (size_t)n);
  OUTPUT("B", (DATA_TYPE *)B, (size_t)n * (size_t)n);
  free(A);
  free(B);
  return harness_finish("jacobi-2d");
}
