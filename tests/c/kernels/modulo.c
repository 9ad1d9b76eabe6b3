/* A guard on a sum of loop variables, modulo 2 and 3. */
#include "harness.h"

#ifndef DATA_TYPE
#define DATA_TYPE double
#endif
#ifdef LARGE
#define N_DEFAULT 150
#else
#define N_DEFAULT 12
#endif
#ifndef N
#define N N_DEFAULT
#endif

static void kernel_modulo(int n, DATA_TYPE A[restrict n][n][n])
{
#pragma scop
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      for (int k = 0; k < n; k++) {
        if ((i + j + k) % 2 == 0)
          A[i][j][k] *= 2;
        else if ((i - j) % 3 != 0)
          A[i][j][k] += 1;
      }
#pragma endscop
}

int main(int argc, char **argv)
{
  int n = SIZE(N);
  DATA_TYPE (*A)[n][n] = harness_alloc((size_t)n * (size_t)n * (size_t)n, sizeof(DATA_TYPE));
  harness_open(argc, argv);
  for (int rep = 0; rep < REPS; rep++) {
    for (size_t k = 0; k < (size_t)n * (size_t)n * (size_t)n; k++)
      ((DATA_TYPE *)A)[k] = (DATA_TYPE)harness_unit(1, k);
    harness_start();
    kernel_modulo(n, A);
    harness_stop();
  }
  OUTPUT("A", (DATA_TYPE *)A, (size_t)n * (size_t)n * (size_t)n);
  free(A);
  return harness_finish("modulo");
}
