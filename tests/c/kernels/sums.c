/* Sums in local variables that read other elements of what they are stored to: the inverse of a triangle, a triangular system with many right-hand
   sides, and a factorisation. */
#include "harness.h"

#ifdef LARGE
#define N_DEFAULT 1000
#else
#define N_DEFAULT 50
#endif
#ifndef N
#define N N_DEFAULT
#endif

static void kernel_inverse(int n, double L[restrict n][n], double X[restrict n][n])
{
#pragma scop
  for (int j = 0; j < n; j++) {
    X[j][j] = 1.0 / L[j][j];
    for (int i = j + 1; i < n; i++) {
      double sum = 0.0;
      for (int k = j; k < i; k++)
        sum += L[i][k] * X[k][j];
      X[i][j] = -sum / L[i][i];
    }
  }
#pragma endscop
}

static void kernel_solve(int n, int m, double L[restrict n][n], double B[restrict n][m])
{
#pragma scop
  for (int j = 0; j < m; j++)
    for (int i = 0; i < n; i++) {
      double sum = B[i][j];
      for (int k = 0; k < i; k++)
        sum -= L[i][k] * B[k][j];
      B[i][j] = sum / L[i][i];
    }
#pragma endscop
}

static void kernel_factors(int n, double A[restrict n][n])
{
#pragma scop
  for (int i = 0; i < n; i++) {
    for (int j = 0; j < i; j++) {
      double sum = A[i][j];
      for (int k = 0; k < j; k++)
        sum -= A[i][k] * A[k][j];
      A[i][j] = sum / A[j][j];
    }
    for (int j = i; j < n; j++) {
      double sum = A[i][j];
      for (int k = 0; k < i; k++)
        sum -= A[i][k] * A[k][j];
      A[i][j] = sum;
    }
  }
#pragma endscop
}

int main(int argc, char **argv)
{
  int n = SIZE(N), m = n / 2 + 3;
  double (*L)[n] = harness_alloc((size_t)n * n, sizeof(double));
  double (*X)[n] = harness_alloc((size_t)n * n, sizeof(double));
  double (*B)[m] = harness_alloc((size_t)n * m, sizeof(double));
  double (*A)[n] = harness_alloc((size_t)n * n, sizeof(double));
  harness_open(argc, argv);
  for (int rep = 0; rep < REPS; rep++) {
    for (int i = 0; i < n; i++)
      for (int j = 0; j < n; j++) {
        double value = harness_unit(1, (size_t)i * n + j);
        L[i][j] = i == j ? 2 + value : value / n;
        A[i][j] = i == j ? n + value : value;
        X[i][j] = value;
      }
    for (int i = 0; i < n; i++)
      for (int j = 0; j < m; j++)
        B[i][j] = harness_unit(2, (size_t)i * m + j);
    harness_start();
    kernel_inverse(n, L, X);
    kernel_solve(n, m, L, B);
    kernel_factors(n, A);
    harness_stop();
  }
  OUTPUT("X", (double *)X, (size_t)n * n);
  OUTPUT("B", (double *)B, (size_t)n * m);
  OUTPUT("A", (double *)A, (size_t)n * n);
  free(L);
  free(X);
  free(B);
  free(A);
  return harness_finish("sums");
}
