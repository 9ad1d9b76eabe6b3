/* Scalars, a small array and fixed integers declared in the region. */
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

static void kernel_locals(int n, int m, DATA_TYPE A[restrict n][m])
{
#pragma scop
  for (int i = 1; i < n - 1; i++)
    for (int j = 1; j < m - 1; j++) {
      int up = i - 1, left = j - 1;
      double w[3] = {0.25, 0.5, 0.25};
      double value = 0;
      for (int k = 0; k < 3; k++)
        value += w[k] * A[up][left + k];
      const double half = 0.5 * value;
      A[i][j] = half + A[i][j];
    }
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
    kernel_locals(n, m, A);
    harness_stop();
  }
  OUTPUT("A", (DATA_TYPE *)A, (size_t)n * (size_t)m);
  free(A);
  return harness_finish("locals");
}
