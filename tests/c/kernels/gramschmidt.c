/* A = Q R by the modified Gram-Schmidt process; columns of A become orthogonal. */
#include "harness.h"
#include <math.h>

#ifndef DATA_TYPE
#define DATA_TYPE double
#endif
#ifdef LARGE
#define M_DEFAULT 1200
#define N_DEFAULT 1000
#else
#define M_DEFAULT 30
#define N_DEFAULT 20
#endif
#ifndef M
#define M M_DEFAULT
#endif
#ifndef N
#define N N_DEFAULT
#endif

static void kernel_gramschmidt(int m, int n, DATA_TYPE A[restrict m][n], DATA_TYPE R[restrict n][n],
                               DATA_TYPE Q[restrict m][n])
{
  DATA_TYPE norm;
#pragma scop
  for (int k = 0; k < n; k++) {
    norm = 0;
    for (int i = 0; i < m; i++)
      norm += A[i][k] * A[i][k];
    R[k][k] = sqrt(norm);
    for (int i = 0; i < m; i++)
      Q[i][k] = A[i][k] / R[k][k];
    for (int j = k + 1; j < n; j++) {
      R[k][j] = 0;
      for (int i = 0; i < m; i++)
        R[k][j] += Q[i][k] * A[i][j];
      for (int i = 0; i < m; i++)
        A[i][j] = A[i][j] - Q[i][k] * R[k][j];
    }
  }
#pragma endscop
}

int main(int argc, char **argv)
{
  int m = SIZE(M);
  int n = SIZE(N);
  DATA_TYPE (*A)[n] = harness_alloc((size_t)m * (size_t)n, sizeof(DATA_TYPE));
  DATA_TYPE (*R)[n] = harness_alloc((size_t)n * (size_t)n, sizeof(DATA_TYPE));
  DATA_TYPE (*Q)[n] = harness_alloc((size_t)m * (size_t)n, sizeof(DATA_TYPE));
  harness_open(argc, argv);
  for (int rep = 0; rep < REPS; rep++) {
    for (size_t r = 0; r < (size_t)m; r++)
      for (size_t c = 0; c < (size_t)n; c++)
        ((DATA_TYPE *)A)[r * (size_t)n + c] = (DATA_TYPE)(harness_unit(1, r * (size_t)n + c) + (r == c ? 4 : 0.25));
    memset(R, 0, (size_t)n * (size_t)n * sizeof(DATA_TYPE));
    memset(Q, 0, (size_t)m * (size_t)n * sizeof(DATA_TYPE));
    harness_start();
    kernel_gramschmidt(m, n, A, R, Q);
    harness_stop();
  }
  OUTPUT("A", (DATA_TYPE *)A, (size_t)m * (size_t)n);
  OUTPUT("R", (DATA_TYPE *)R, (size_t)n * (size_t)n);
  OUTPUT("Q", (DATA_TYPE *)Q, (size_t)m * (size_t)n);
  free(A);
  free(R);
  free(Q);
  return harness_finish("gramschmidt");
}
