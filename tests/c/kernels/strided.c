/* Loops with steps other than one. */
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

static void kernel_strided(int n, DATA_TYPE A[restrict n][n], DATA_TYPE x[restrict n])
{
#pragma scop
  for (int i = 1; i < n; i += 3)
    for (int j = 0; j <= n - 1; j = j + 2)
      A[i][j] = A[i][j] * 2 + x[j];
  for (int i = 0; 2 * i < n; i++)
    x[2 * i] += i;
#pragma endscop
}

int main(int argc, char **argv)
{
  int n = SIZE(N);
  DATA_TYPE (*A)[n] = harness_alloc((size_t)n * (size_t)n, sizeof(DATA_TYPE));
  DATA_TYPE *x = harness_alloc((size_t)n, sizeof(DATA_TYPE));
  harness_open(argc, argv);
  for (int rep = 0; rep < REPS; rep++) {
    for (size_t k = 0; k < (size_t)n * (size_t)n; k++)
      ((DATA_TYPE *)A)[k] = (DATA_TYPE)harness_unit(1, k);
    for (size_t k = 0; k < (size_t)n; k++)
      x[k] = (DATA_TYPE)harness_unit(2, k);
    harness_start();
    kernel_strided(n, A, x);
    harness_stop();
  }
  OUTPUT("A", (DATA_TYPE *)A, (size_t)n * (size_t)n);
  OUTPUT("x", (DATA_TYPE *)x, (size_t)n);
  free(A);
  free(x);
  return harness_finish("strided");
}
