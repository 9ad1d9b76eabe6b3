/* Choices between values: by data, and by the place. */
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

static void kernel_ternary(int n, int m, DATA_TYPE A[restrict n][m], DATA_TYPE B[restrict n][m])
{
#pragma scop
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++) {
      A[i][j] = A[i][j] > 0 ? A[i][j] : 0.01 * A[i][j];
      B[i][j] = i == 0 || j == 0 ? B[i][j] : A[i - 1][j - 1] + B[i][j];
      B[i][j] = B[i][j] > 0.25 && A[i][j] < 0.25 ? 0.25 : B[i][j];
    }
#pragma endscop
}

int main(int argc, char **argv)
{
  int n = SIZE(N);
  int m = SIZE(M);
  DATA_TYPE (*A)[m] = harness_alloc((size_t)n * (size_t)m, sizeof(DATA_TYPE));
  DATA_TYPE (*B)[m] = harness_alloc((size_t)n * (size_t)m, sizeof(DATA_TYPE));
  harness_open(argc, argv);
  for (int rep = 0; rep < REPS; rep++) {
    for (size_t k = 0; k < (size_t)n * (size_t)m; k++)
      ((DATA_TYPE *)A)[k] = (DATA_TYPE)(harness_unit(1, k) - 0.5);
    for (size_t k = 0; k < (size_t)n * (size_t)m; k++)
      ((DATA_TYPE *)B)[k] = (DATA_TYPE)(harness_unit(2, k) - 0.5);
    harness_start();
    kernel_ternary(n, m, A, B);
    harness_stop();
  }
  OUTPUT("A", (DATA_TYPE *)A, (size_t)n * (size_t)m);
  OUTPUT("B", (DATA_TYPE *)B, (size_t)n * (size_t)m);
  free(A);
  free(B);
  return harness_finish("ternary");
}
