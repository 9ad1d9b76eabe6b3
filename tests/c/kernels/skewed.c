/* A stencil along anti-diagonals: the inner bounds depend on the outer loop. */
#include "harness.h"

#ifndef DATA_TYPE
#define DATA_TYPE double
#endif
#ifdef LARGE
#define N_DEFAULT 2000
#define M_DEFAULT 2000
#else
#define N_DEFAULT 40
#define M_DEFAULT 30
#endif
#ifndef N
#define N N_DEFAULT
#endif
#ifndef M
#define M M_DEFAULT
#endif

static void kernel_skewed(int n, int m, DATA_TYPE A[restrict n][m])
{
#pragma scop
  for (int d = 2; d <= n + m - 2; d++)
    for (int i = (d - m + 1 > 1 ? d - m + 1 : 1); i <= (d - 1 < n - 1 ? d - 1 : n - 1); i++)
      A[i][d - i] = 0.5 * (A[i - 1][d - i] + A[i][d - i - 1]);
#pragma endscop
}

int main(int argc, char **argv)
{
  int n = SIZE(N);
  int m = SIZE(M);
  DATA_TYPE (*A)[m] = harness_alloc((size_t)n * (size_t)m, sizeof(DATA_TYPE));
  harness_open(argc, argv);
  for (int rep = 0; rep < REPS; rep++) {
    for (size_t k = 0; k < (size_t)n * (size_t)m; k++)
      ((DATA_TYPE *)A)[k] = (DATA_TYPE)harness_unit(1, k);
    harness_start();
    kernel_skewed(n, m, A);
    harness_stop();
  }
  OUTPUT("A", (DATA_TYPE *)A, (size_t)n * (size_t)m);
  free(A);
  return harness_finish("skewed");
}
