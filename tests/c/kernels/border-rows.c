/* A stencil in time whose border is copied from the rows and columns beside it. */
#include "harness.h"

#ifndef DATA_TYPE
#define DATA_TYPE double
#endif
#ifdef LARGE
#define N_DEFAULT 500
#define T_DEFAULT 20
#else
#define N_DEFAULT 20
#define T_DEFAULT 5
#endif
#ifndef N
#define N N_DEFAULT
#endif
#ifndef T
#define T T_DEFAULT
#endif

static void kernel_border_rows(int n, int t, DATA_TYPE A[restrict n][n], DATA_TYPE B[restrict n][n])
{
#pragma scop
  for (int s = 0; s < t; s++) {
    for (int i = 1; i < n - 1; i++)
      for (int j = 1; j < n - 1; j++)
        B[i][j] = (DATA_TYPE)0.25 * (A[i - 1][j] + A[i + 1][j] + A[i][j - 1] + A[i][j + 1]);
    for (int j = 1; j < n - 1; j++) {
      B[0][j] = B[1][j];
      B[n - 1][j] = B[n - 2][j];
    }
    for (int i = 1; i < n - 1; i++) {
      B[i][0] = B[i][1];
      B[i][n - 1] = B[i][n - 2];
    }
    for (int i = 0; i < n; i++)
      for (int j = 0; j < n; j++)
        A[i][j] = B[i][j];
  }
#pragma endscop
}

int main(int argc, char **argv)
{
  int n = SIZE(N);
  int t = SIZE(T);
  size_t count = (size_t)n * (size_t)n;
  DATA_TYPE (*A)[n] = harness_alloc(count, sizeof(DATA_TYPE));
  DATA_TYPE (*B)[n] = harness_alloc(count, sizeof(DATA_TYPE));
  harness_open(argc, argv);
  for (int rep = 0; rep < REPS; rep++) {
    for (size_t k = 0; k < count; k++)
      ((DATA_TYPE *)A)[k] = (DATA_TYPE)harness_unit(1, k);
    memset(B, 0, count * sizeof(DATA_TYPE));
    harness_start();
    kernel_border_rows(n, t, A, B);
    harness_stop();
  }
  OUTPUT("A", (DATA_TYPE *)A, count);
  OUTPUT("B", (DATA_TYPE *)B, count);
  free(A);
  free(B);
  return harness_finish("border-rows");
}
