/* Solves U x = b from the last row to the first. */
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

static void kernel_backsolve(int n, DATA_TYPE U[restrict n][n], DATA_TYPE x[restrict n],
                             DATA_TYPE b[restrict n])
{
#pragma scop
  for (int i = n - 1; i >= 0; i--) {
    x[i] = b[i];
    for (int j = n - 1; j > i; --j)
      x[i] -= U[i][j] * x[j];
    x[i] /= U[i][i];
  }
#pragma endscop
}

int main(int argc, char **argv)
{
  int n = SIZE(N);
  DATA_TYPE (*U)[n] = harness_alloc((size_t)n * (size_t)n, sizeof(DATA_TYPE));
  DATA_TYPE *x = harness_alloc((size_t)n, sizeof(DATA_TYPE));
  DATA_TYPE *b = harness_alloc((size_t)n, sizeof(DATA_TYPE));
  harness_open(argc, argv);
  for (int rep = 0; rep < REPS; rep++) {
    for (size_t r = 0; r < (size_t)n; r++)
      for (size_t c = 0; c < (size_t)n; c++) {
        size_t low = r < c ? r : c, high = r < c ? c : r;
        ((DATA_TYPE *)U)[r * (size_t)n + c] = (DATA_TYPE)(r == c ? n : harness_unit(1, high * (size_t)n + low));
      }
    memset(x, 0, (size_t)n * sizeof(DATA_TYPE));
    for (size_t k = 0; k < (size_t)n; k++)
      b[k] = (DATA_TYPE)harness_unit(3, k);
    harness_start();
    kernel_backsolve(n, U, x, b);
    harness_stop();
  }
  OUTPUT("x", (DATA_TYPE *)x, (size_t)n);
  free(U);
  free(x);
  free(b);
  return harness_finish("backsolve");
}
