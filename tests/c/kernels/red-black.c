/* Gauss-Seidel in two colours: the guard is a stride. */
#include "harness.h"

#ifndef DATA_TYPE
#define DATA_TYPE double
#endif
#ifdef LARGE
#define TSTEPS_DEFAULT 100
#define N_DEFAULT 1000
#else
#define TSTEPS_DEFAULT 10
#define N_DEFAULT 30
#endif
#ifndef TSTEPS
#define TSTEPS TSTEPS_DEFAULT
#endif
#ifndef N
#define N N_DEFAULT
#endif

static void kernel_red_black(int tsteps, int n, DATA_TYPE A[restrict n][n])
{
#pragma scop
  for (int t = 0; t < tsteps; t++)
    for (int colour = 0; colour < 2; colour++)
      for (int i = 1; i < n - 1; i++)
        for (int j = 1; j < n - 1; j++)
          if ((i + j) % 2 == colour)
            A[i][j] = 0.25 * (A[i - 1][j] + A[i + 1][j] + A[i][j - 1] + A[i][j + 1]);
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
    kernel_red_black(tsteps, n, A);
    harness_stop();
  }
  OUTPUT("A", (DATA_TYPE *)A, (size_t)n * (size_t)n);
  free(A);
  return harness_finish("red-black");
}
