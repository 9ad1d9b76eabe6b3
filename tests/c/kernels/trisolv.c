/* Solves L x = b with a lower triangular L. */
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

static void kernel_trisolv(int n, DATA_TYPE L[restrict n][n], DATA_TYPE x[restrict n],
                           DATA_TYPE b[restrict n])
{
#pragma scop
  for (int i = 0; i < n; i++) {
    x[i] = b[i];
    for (int j = 0; j < i; j++)
      x[i] -= L[i][j] * x[j];
    x[i] = x[i] / L[i][i];
  }
#pragma endscop
}

int main(int argc, char **argv)
{
  int n = SIZE(N);
  DATA_TYPE (*L)[n] = harness_alloc((size_t)n * (size_t)n, sizeof(DATA_TYPE));
  DATA_TYPE *x = harness_alloc((size_t)n, sizeof(DATA_TYPE));
  DATA_TYPE *b = harness_alloc((size_t)n, sizeof(DATA_TYPE));
  harness_open(argc, argv);
  for (int rep = 0; rep < REPS; rep++) {
    for (size_t r = 0; r < (size_t)n; r++)
      for (size_t c = 0; c < (size_t)n; c++) {
        size_t low = r < c ? r : c, high = r < c ? c : r;
        ((DATA_TYPE *)L)[r * (size_t)n + c] = (DATA_TYPE)(r == c ? n : harness_unit(1, high * (size_t)n + low));
      }
    memset(x, 0, (size_t)n * sizeof(DATA_TYPE));
    for (size_t k = 0; k < (size_t)n; k++)
      b[k] = (DATA_TYPE)harness_unit(3, k);
    harness_start();
    kernel_trisolv(n, L, x, b);
    harness_stop();
  }
  OUTPUT("x", (DATA_TYPE *)x, (size_t)n);
  free(L);
  free(x);
  free(b);
  return harness_finish("trisolv");
}
