/* Two regions in one function, with other statements between. */
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

static void kernel_two_regions(int n, DATA_TYPE A[restrict n][n], DATA_TYPE x[restrict n])
{
  int i, j;
#pragma scop
  for (i = 0; i < n; i++)
    for (j = 0; j < n; j++)
      A[i][j] = 2 * A[i][j];
#pragma endscop
  DATA_TYPE factor = n > 0 ? A[0][0] : 1;
  while (factor > 4)
    factor = factor / 2;
#pragma scop
  for (i = 0; i < n; i++)
    for (j = 0; j < n; j++)
      x[i] += factor * A[i][j];
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
    kernel_two_regions(n, A, x);
    harness_stop();
  }
  OUTPUT("A", (DATA_TYPE *)A, (size_t)n * (size_t)n);
  OUTPUT("x", (DATA_TYPE *)x, (size_t)n);
  free(A);
  free(x);
  return harness_finish("two-regions");
}
