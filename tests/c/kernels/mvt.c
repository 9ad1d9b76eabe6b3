/* x1 += A y1 and x2 += A^T y2. */
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

static void kernel_mvt(int n, DATA_TYPE x1[restrict n], DATA_TYPE x2[restrict n], DATA_TYPE y1[restrict n],
                       DATA_TYPE y2[restrict n], DATA_TYPE A[restrict n][n])
{
#pragma scop
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      x1[i] = x1[i] + A[i][j] * y1[j];
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      x2[i] = x2[i] + A[j][i] * y2[j];
#pragma endscop
}

int main(int argc, char **argv)
{
  int n = SIZE(N);
  DATA_TYPE *x1 = harness_alloc((size_t)n, sizeof(DATA_TYPE));
  DATA_TYPE *x2 = harness_alloc((size_t)n, sizeof(DATA_TYPE));
  DATA_TYPE *y1 = harness_alloc((size_t)n, sizeof(DATA_TYPE));
  DATA_TYPE *y2 = harness_alloc((size_t)n, sizeof(DATA_TYPE));
  DATA_TYPE (*A)[n] = harness_alloc((size_t)n * (size_t)n, sizeof(DATA_TYPE));
  harness_open(argc, argv);
  for (int rep = 0; rep < REPS; rep++) {
    for (size_t k = 0; k < (size_t)n; k++)
      x1[k] = (DATA_TYPE)harness_unit(1, k);
    for (size_t k = 0; k < (size_t)n; k++)
      x2[k] = (DATA_TYPE)harness_unit(2, k);
    for (size_t k = 0; k < (size_t)n; k++)
      y1[k] = (DATA_TYPE)harness_unit(3, k);
    for (size_t k = 0; k < (size_t)n; k++)
      y2[k] = (DATA_TYPE)harness_unit(4, k);
    for (size_t k = 0; k < (size_t)n * (size_t)n; k++)
      ((DATA_TYPE *)A)[k] = (DATA_TYPE)harness_unit(5, k);
    harness_start();
    kernel_mvt(n, x1, x2, y1, y2, A);
    harness_stop();
  }
  OUTPUT("x1", (DATA_TYPE *)x1, (size_t)n);
  OUTPUT("x2", (DATA_TYPE *)x2, (size_t)n);
  free(x1);
  free(x2);
  free(y1);
  free(y2);
  free(A);
  return harness_finish("mvt");
}
