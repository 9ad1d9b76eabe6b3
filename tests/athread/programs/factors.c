/* Factorisations and a substitution by columns: what a step changes begins behind its column. */
#include "../../c/kernels/harness.h"
#include <math.h>

#define N_DEFAULT 30
#ifndef N
#define N N_DEFAULT
#endif

static void factors(int n, double A[restrict n][n], double B[restrict n][n], double L[restrict n][n],
                    double D[restrict n][n], double S[restrict n][n], double x[restrict n])
{
#pragma scop
  for (int k = 0; k < n; k++)
    for (int i = k + 1; i < n; i++) {
      A[i][k] /= A[k][k];
      for (int j = k + 1; j < n; j++)
        A[i][j] -= A[i][k] * A[k][j];
    }
#pragma endscop
#pragma scop
  for (int k = 0; k < n; k++) {
    for (int i = k + 1; i < n; i++)
      L[i][k] = B[i][k] / B[k][k];
    for (int i = k + 1; i < n; i++)
      for (int j = k + 1; j < n; j++)
        B[i][j] -= L[i][k] * B[k][j];
  }
#pragma endscop
#pragma scop
  for (int k = 0; k < n; k++) {
    for (int j = k + 1; j < n; j++)
      D[k][j] = D[k][j] / D[k][k];
    for (int i = k + 1; i < n; i++)
      for (int j = k + 1; j < n; j++)
        D[i][j] -= D[i][k] * D[k][j];
  }
#pragma endscop
#pragma scop
  for (int k = 0; k < n; k++) {
    S[k][k] = sqrt(S[k][k]);
    for (int i = k + 1; i < n; i++)
      S[i][k] /= S[k][k];
    for (int i = k + 1; i < n; i++)
      for (int j = k + 1; j <= i; j++)
        S[i][j] -= S[i][k] * S[j][k];
  }
#pragma endscop
#pragma scop
  for (int k = 0; k < n; k++)
    for (int i = k + 1; i < n; i++)
      x[i] -= A[i][k] * x[k];
#pragma endscop
}

static double *filled(size_t rows, size_t columns)
{
  double *a = harness_alloc(rows * columns, sizeof(double));
  for (size_t k = 0; k < rows * columns; k++)
    a[k] = k / columns == k % columns ? (double)rows : harness_unit(1, k);
  return a;
}

int main(int argc, char **argv)
{
  int n = SIZE(N);
  size_t rows = (size_t)n, all = rows * rows;
  harness_open(argc, argv);
  double *A = filled(rows, rows), *B = filled(rows, rows), *L = filled(rows, rows), *D = filled(rows, rows);
  double *S = filled(rows, rows), *x = filled(rows, 1);
  harness_start();
  factors(n, (void *)A, (void *)B, (void *)L, (void *)D, (void *)S, x);
  harness_stop();
  OUTPUT("A", A, all);
  OUTPUT("B", B, all);
  OUTPUT("L", L, all);
  OUTPUT("D", D, all);
  OUTPUT("S", S, all);
  OUTPUT("x", x, rows);
  free(A), free(B), free(L), free(D), free(S), free(x);
  return harness_finish("factors");
}
