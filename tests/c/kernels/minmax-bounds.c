/* A band of a matrix: bounds by minimum and maximum. */
#include "harness.h"

#ifndef DATA_TYPE
#define DATA_TYPE double
#endif
#ifdef LARGE
#define N_DEFAULT 2000
#define W_DEFAULT 50
#else
#define N_DEFAULT 40
#define W_DEFAULT 5
#endif
#ifndef N
#define N N_DEFAULT
#endif
#ifndef W
#define W W_DEFAULT
#endif

#define MIN(a, b) ((a) < (b) ? (a) : (b))
#define MAX(a, b) ((a) > (b) ? (a) : (b))

static void kernel_minmax_bounds(int n, int w, DATA_TYPE A[restrict n][n], DATA_TYPE x[restrict n],
                                 DATA_TYPE y[restrict n])
{
#pragma scop
  for (int i = 0; i < n; i++) {
    y[i] = 0;
    for (int j = MAX(0, i - w); j <= MIN(n - 1, i + w); j++)
      y[i] += A[i][j] * x[j];
  }
#pragma endscop
}

int main(int argc, char **argv)
{
  int n = SIZE(N);
  int w = SIZE(W);
  DATA_TYPE (*A)[n] = harness_alloc((size_t)n * (size_t)n, sizeof(DATA_TYPE));
  DATA_TYPE *x = harness_alloc((size_t)n, sizeof(DATA_TYPE));
  DATA_TYPE *y = harness_alloc((size_t)n, sizeof(DATA_TYPE));
  harness_open(argc, argv);
  for (int rep = 0; rep < REPS; rep++) {
    for (size_t k = 0; k < (size_t)n * (size_t)n; k++)
      ((DATA_TYPE *)A)[k] = (DATA_TYPE)harness_unit(1, k);
    for (size_t k = 0; k < (size_t)n; k++)
      x[k] = (DATA_TYPE)harness_unit(2, k);
    memset(y, 0, (size_t)n * sizeof(DATA_TYPE));
    harness_start();
    kernel_minmax_bounds(n, w, A, x, y);
    harness_stop();
  }
  OUTPUT("y", (DATA_TYPE *)y, (size_t)n);
  free(A);
  free(x);
  free(y);
  return harness_finish("minmax-bounds");
}
