/* Triangular solutions with many right-hand sides, shortest paths and a transitive closure: what is
 * parallel in a step reads rows and columns that other steps write. */
#include "../../c/kernels/harness.h"

#define N_DEFAULT 30
#define M_DEFAULT 20
#ifndef N
#define N N_DEFAULT
#endif
#ifndef M
#define M M_DEFAULT
#endif

static void steps(int n, int m, double L[restrict n][n], double X[restrict n][m], double Y[restrict n][m],
                  double Z[restrict n][m], double U[restrict n][m], double R[restrict m][n],
                  double D[restrict n][n], int C[restrict n][n])
{
#pragma scop
  for (int i = 0; i < n; i++) {
    for (int k = 0; k < i; k++)
      for (int j = 0; j < m; j++)
        X[i][j] -= L[i][k] * X[k][j];
    for (int j = 0; j < m; j++)
      X[i][j] = X[i][j] / L[i][i];
  }
#pragma endscop
#pragma scop
  for (int j = 0; j < m; j++)
    for (int i = 0; i < n; i++) {
      for (int k = 0; k < i; k++)
        Y[i][j] -= L[i][k] * Y[k][j];
      Y[i][j] = Y[i][j] / L[i][i];
    }
#pragma endscop
#pragma scop
  for (int i = n - 1; i >= 0; i--) {
    for (int k = i + 1; k < n; k++)
      for (int j = 0; j < m; j++)
        Z[i][j] -= L[i][k] * Z[k][j];
    for (int j = 0; j < m; j++)
      Z[i][j] /= L[i][i];
  }
#pragma endscop
#pragma scop
  for (int i = 0; i < n; i++)
    for (int k = 0; k < i; k++)
      for (int j = 0; j < m; j++)
        U[i][j] -= L[i][k] * U[k][j];
#pragma endscop
#pragma scop
  for (int i = 0; i < n; i++) {
    for (int k = 0; k < i; k++)
      for (int j = 0; j < m; j++)
        R[j][i] -= R[j][k] * L[k][i];
    for (int j = 0; j < m; j++)
      R[j][i] = R[j][i] / L[i][i];
  }
#pragma endscop
#pragma scop
  for (int k = 0; k < n; k++)
    for (int i = 0; i < n; i++)
      for (int j = 0; j < n; j++)
        D[i][j] = D[i][j] < D[i][k] + D[k][j] ? D[i][j] : D[i][k] + D[k][j];
#pragma endscop
#pragma scop
  for (int k = 0; k < n; k++)
    for (int i = 0; i < n; i++)
      for (int j = 0; j < n; j++)
        C[i][j] = C[i][j] || (C[i][k] && C[k][j]);
#pragma endscop
}

/* Numbers of both signs: paths around a point may be negative, so that row and column `k` change in
 * step `k`. */
static double *filled(size_t rows, size_t columns, int seed)
{
  double *a = harness_alloc(rows * columns, sizeof(double));
  for (size_t k = 0; k < rows * columns; k++)
    a[k] = harness_unit(seed, k) - 0.05;
  return a;
}

int main(int argc, char **argv)
{
  int n = SIZE(N), m = SIZE(M);
  size_t rows = (size_t)n, columns = (size_t)m;
  harness_open(argc, argv);
  double *L = filled(rows, rows, 1), *D = filled(rows, rows, 2), *R = filled(columns, rows, 3);
  double *X = filled(rows, columns, 4), *Y = filled(rows, columns, 4), *Z = filled(rows, columns, 5);
  double *U = filled(rows, columns, 6);
  int *C = harness_alloc(rows * rows, sizeof(int));
  for (size_t k = 0; k < rows; k++)
    L[k * rows + k] = (double)(rows + k);
  for (size_t k = 0; k < rows * rows; k++)
    C[k] = harness_unit(7, k) * (double)rows < 1.5;
  harness_start();
  steps(n, m, (void *)L, (void *)X, (void *)Y, (void *)Z, (void *)U, (void *)R, (void *)D, (void *)C);
  harness_stop();
  OUTPUT("X", X, rows * columns);
  OUTPUT("Y", Y, rows * columns);
  OUTPUT("Z", Z, rows * columns);
  OUTPUT("U", U, rows * columns);
  OUTPUT("R", R, rows * columns);
  OUTPUT("D", D, rows * rows);
  OUTPUT("C", C, rows * rows);
  free(L), free(X), free(Y), free(Z), free(U), free(R), free(D), free(C);
  return harness_finish("steps");
}
