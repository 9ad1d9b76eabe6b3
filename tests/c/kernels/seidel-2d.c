/* A nine-point average in two dimensions, in place. */
#include "harness.h"

#ifndef DATA_TYPE
#define DATA_TYPE double
#endif
#ifdef LARGE
#define TSTEPS_DEFAULT 500
#define N_DEFAULT 2000
#else
#define TSTEPS_DEFAULT 20
#define N_DEFAULT 40
#endif
#ifndef TSTEPS
#define TSTEPS TSTEPS_DEFAULT
#endif
#ifndef N
#define N N_DEFAULT
#endif

static void kernel_seidel_2d(int tsteps, int n, DATA_TYPE A[restrict n][n])
{
#pragma scop
  for (int t = 0; t <= tsteps - 1; t++)
    for (int i = 1; i <= n - 2; i++)
      for (int j = 1; j <= n - 2; j++)
        A[i][j] = (A[i - 1][j - 1] + A[i - 1][j] + A[i - 1][j + 1] + A[i][j - 1] + A[i][j] + A[i][j + 1]
                   + A[i + 1][j - 1] + A[i + 1][j] + A[i + 1][j + 1]) / 9;
#pragma endscop
}

int main(int argc, char **argv)
{
  int tsteps = SIZE(TSTEPS);
  int n = SIZE(N);
  DATA_TYPE (*A)[n] = harness_alloc((size_t)n * (size_t)n, sizeof(DATA_TYPE));
  harness_open(argc, argv);
  for (int rep = 0; rep < REPS; rep++) {
    for (size_t k = 0; k < (size_t)n * (size_t)n; k++)
      ((DATA_TYPE *)A)[k] = (DATA_TYPE)harness_unit(1, k);
    harness_start();
    kernel_seidel_2d(tsteps, n, A);
    harness_stop();
  }
  OUTPUT("A", (DATA_TYPE *)A, (size_t)n * (size_t)n);
  free(A);
  return harness_finish("seidel-2d");
}
