/* B = alpha A^T B with a unit lower triangular A. */
#include "harness.h"

#ifndef DATA_TYPE
#define DATA_TYPE double
#endif
#ifdef LARGE
#define M_DEFAULT 1000
#define N_DEFAULT 1200
#else
#define M_DEFAULT 20
#define N_DEFAULT 30
#endif
#ifndef M
#define M M_DEFAULT
#endif
#ifndef N
#define N N_DEFAULT
#endif

static void kernel_trmm(int m, int n, DATA_TYPE alpha, DATA_TYPE A[restrict m][m],
                        DATA_TYPE B[restrict m][n])
{
#pragma scop
  for (int i = 0; i < m; i++)
    for (int j = 0; j < n; j++) {
      for (int k = i + 1; k < m; k++)
        B[i][j] += A[k][i] * B[k][j];
      B[i][j] = alpha * B[i][j];
    }
#pragma endscop
}

int main(int argc, char **argv)
{
  int m = SIZE(M);
  int n = SIZE(N);
  DATA_TYPE alpha = 1.5;
  DATA_TYPE (*A)[m] = harness_alloc((size_t)m * (size_t)m, sizeof(DATA_TYPE));
  DATA_TYPE (*B)[n] = harness_alloc((size_t)m * (size_t)n, sizeof(DATA_TYPE));
  harness_open(argc, argv);
  for (int rep = 0; rep < REPS; rep++) {
    for (size_t k = 0; k < (size_t)m * (size_t)m; k++)
      ((DATA_TYPE *)A)[k] = (DATA_TYPE)harness_unit(1, k);
    for (size_t k = 0; k < (size_t)m * (size_t)n; k++)
      ((DATA_TYPE *)B)[k] = (DATA_TYPE)harness_unit(2, k);
    harness_start();
    kernel_trmm(m, n, alpha, A, B);
    harness_stop();
  }
  OUTPUT("B", (DATA_TYPE *)B, (size_t)m * (size_t)n);
  free(A);
  free(B);
  return harness_finish("trmm");
}
