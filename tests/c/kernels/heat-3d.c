/* A heat equation in three dimensions, two arrays in turn. */
#include "harness.h"

#ifndef DATA_TYPE
#define DATA_TYPE double
#endif
#ifdef LARGE
#define TSTEPS_DEFAULT 500
#define N_DEFAULT 120
#else
#define TSTEPS_DEFAULT 20
#define N_DEFAULT 10
#endif
#ifndef TSTEPS
#define TSTEPS TSTEPS_DEFAULT
#endif
#ifndef N
#define N N_DEFAULT
#endif

static void kernel_heat_3d(int tsteps, int n, DATA_TYPE A[restrict n][n][n], DATA_TYPE B[restrict n][n][n])
{
  DATA_TYPE c = 0.125;
#pragma scop
  for (int t = 1; t <= tsteps; t++) {
    for (int i = 1; i < n - 1; i++)
      for (int j = 1; j < n - 1; j++)
        for (int k = 1; k < n - 1; k++)
          B[i][j][k] = c * (A[i + 1][j][k] - 2 * A[i][j][k] + A[i - 1][j][k])
                     + c * (A[i][j + 1][k] - 2 * A[i][j][k] + A[i][j - 1][k])
                     + c * (A[i][j][k + 1] - 2 * A[i][j][k] + A[i][j][k - 1]) + A[i][j][k];
    for (int i = 1; i < n - 1; i++)
      for (int j = 1; j < n - 1; j++)
        for (int k = 1; k < n - 1; k++)
          A[i][j][k] = c * (B[i + 1][j][k] - 2 * B[i][j][k] + B[i - 1][j][k])
                     + c * (B[i][j + 1][k] - 2 * B[i][j][k] + B[i][j - 1][k])
                     + c * (B[i][j][k + 1] - 2 * B[i][j][k] + B[i][j][k - 1]) + B[i][j][k];
  }
#pragma endscop
}

int main(int argc, char **argv)
{
  int tsteps = SIZE(TSTEPS);
  int n = SIZE(N);
  DATA_TYPE (*A)[n][n] = harness_alloc((size_t)n * (size_t)n * (size_t)n, sizeof(DATA_TYPE));
  DATA_TYPE (*B)[n][n] = harness_alloc((size_t)n * (size_t)n * (size_t)n, sizeof(DATA_TYPE));
  harness_open(argc, argv);
  for (int rep = 0; rep < REPS; rep++) {
    for (size_t k = 0; k < (size_t)n * (size_t)n * (size_t)n; k++)
      ((DATA_TYPE *)A)[k] = (DATA_TYPE)harness_unit(1, k);
    memcpy(B, A, (size_t)n * (size_t)n * (size_t)n * sizeof(DATA_TYPE));
    harness_start();
    kernel_heat_3d(tsteps, n, A, B);
    harness_stop();
  }
  OUTPUT("A", (DATA_TYPE *)A, (size_t)n * (size_t)n * (size_t)n);
  OUTPUT("B", (DATA_TYPE *)B, (size_t)n * (size_t)n * (size_t)n);
  free(A);
  free(B);
  return harness_finish("heat-3d");
}
