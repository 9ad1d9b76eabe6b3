/* C = alpha A B + beta C with a symmetric A of which the lower half is stored. */
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

static void kernel_symm(int m, int n, DATA_TYPE alpha, DATA_TYPE beta, DATA_TYPE C[restrict m][n],
                        DATA_TYPE A[restrict m][m], DATA_TYPE B[restrict m][n])
{
  DATA_TYPE above;
#pragma scop
  for (int i = 0; i < m; i++)
    for (int j = 0; j < n; j++) {
      above = 0;
      for (int k = 0; k < i; k++) {
        C[k][j] += alpha * B[i][j] * A[i][k];
        above += B[k][j] * A[i][k];
      }
      C[i][j] = beta * C[i][j] + alpha * B[i][j] * A[i][i] + alpha * above;
    }
#pragma endscop
}

int main(int argc, char **argv)
{
  int m = SIZE(M);
  int n = SIZE(N);
  DATA_TYPE alpha = 1.5;
  DATA_TYPE beta = 1.25;
  DATA_TYPE (*C)[n] = harness_alloc((size_t)m * (size_t)n, sizeof(DATA_TYPE));
  DATA_TYPE (*A)[m] = harness_alloc((size_t)m * (size_t)m, sizeof(DATA_TYPE));
  DATA_TYPE (*B)[n] = harness_alloc((size_t)m * (size_t)n, sizeof(DATA_TYPE));
  harness_open(argc, argv);
  for (int rep = 0; rep < REPS; rep++) {
    for (size_t k = 0; k < (size_t)m * (size_t)n; k++)
      ((DATA_TYPE *)C)[k] = (DATA_TYPE)harness_unit(1, k);
    for (size_t k = 0; k < (size_t)m * (size_t)m; k++)
      ((DATA_TYPE *)A)[k] = (DATA_TYPE)harness_unit(2, k);
    for (size_t k = 0; k < (size_t)m * (size_t)n; k++)
      ((DATA_TYPE *)B)[k] = (DATA_TYPE)harness_unit(3, k);
    harness_start();
    kernel_symm(m, n, alpha, beta, C, A, B);
    harness_stop();
  }
  OUTPUT("C", (DATA_TYPE *)C, (size_t)m * (size_t)n);
  free(C);
  free(A);
  free(B);
  return harness_finish("symm");
}
