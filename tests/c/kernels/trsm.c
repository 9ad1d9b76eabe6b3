/* B = inverse(L) B with a lower triangular L, for many right-hand sides at once. */
#include "harness.h"

#ifndef DATA_TYPE
#define DATA_TYPE double
#endif
#ifdef LARGE
#define N_DEFAULT 1000
#define M_DEFAULT 1000
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

static void kernel_trsm(int n, int m, DATA_TYPE L[restrict n][n], DATA_TYPE B[restrict n][m])
{
#pragma scop
  for (int i = 0; i < n; i++) {
    for (int k = 0; k < i; k++)
      for (int r = 0; r < m; r++)
        B[i][r] -= L[i][k] * B[k][r];
    for (int r = 0; r < m; r++)
      B[i][r] /= L[i][i];
  }
#pragma endscop
}

int main(int argc, char **argv)
{
  int n = SIZE(N);
  int m = SIZE(M);
  DATA_TYPE (*L)[n] = harness_alloc((size_t)n * (size_t)n, sizeof(DATA_TYPE));
  DATA_TYPE (*B)[m] = harness_alloc((size_t)n * (size_t)m, sizeof(DATA_TYPE));
  harness_open(argc, argv);
  for (int rep = 0; rep < REPS; rep++) {
    for (size_t r = 0; r < (size_t)n; r++)
      for (size_t c = 0; c < (size_t)n; c++)
        ((DATA_TYPE *)L)[r * (size_t)n + c] = (DATA_TYPE)(r == c ? n : harness_unit(1, r * (size_t)n + c));
    for (size_t k = 0; k < (size_t)n * (size_t)m; k++)
      ((DATA_TYPE *)B)[k] = (DATA_TYPE)harness_unit(2, k);
    harness_start();
    kernel_trsm(n, m, L, B);
    harness_stop();
  }
  OUTPUT("B", (DATA_TYPE *)B, (size_t)n * (size_t)m);
  free(L);
  free(B);
  return harness_finish("trsm");
}
