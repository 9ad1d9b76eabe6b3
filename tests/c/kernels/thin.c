/* Products whose inner extent is a small constant: one row more than whole tiles, or fewer than one tile. */
#include "harness.h"

#ifdef LARGE
#define N_DEFAULT 1500
#else
#define N_DEFAULT 45
#endif
#ifndef N
#define N N_DEFAULT
#endif

static void kernel_thin(int n, int m, double A[restrict n][2], double B[restrict 2][m], double C[restrict n][m],
                        float P[restrict n][5], float Q[restrict 5][m], float R[restrict n][m],
                        double S[restrict n][9], double T[restrict m][9], double U[restrict n][m])
{
#pragma scop
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++)
      for (int k = 0; k < 2; k++)
        C[i][j] += A[i][k] * B[k][j];
#pragma endscop
#pragma scop
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++) {
      R[i][j] = 0;
      for (int k = 0; k < 5; k++)
        R[i][j] += P[i][k] * Q[k][j];
    }
#pragma endscop
#pragma scop
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++)
      for (int k = 0; k < 9; k++)
        U[i][j] -= S[i][k] * T[j][k];
#pragma endscop
}

int main(int argc, char **argv)
{
  int n = SIZE(N), m = n + n / 5;
  double (*A)[2] = harness_alloc((size_t)n * 2, sizeof(double));
  double (*B)[m] = harness_alloc((size_t)2 * m, sizeof(double));
  double (*C)[m] = harness_alloc((size_t)n * m, sizeof(double));
  float (*P)[5] = harness_alloc((size_t)n * 5, sizeof(float));
  float (*Q)[m] = harness_alloc((size_t)5 * m, sizeof(float));
  float (*R)[m] = harness_alloc((size_t)n * m, sizeof(float));
  double (*S)[9] = harness_alloc((size_t)n * 9, sizeof(double));
  double (*T)[9] = harness_alloc((size_t)m * 9, sizeof(double));
  double (*U)[m] = harness_alloc((size_t)n * m, sizeof(double));
  harness_open(argc, argv);
  for (int rep = 0; rep < REPS; rep++) {
    for (size_t k = 0; k < (size_t)n * m; k++) {
      ((double *)C)[k] = harness_unit(1, k);
      ((double *)U)[k] = harness_unit(2, k);
    }
    for (size_t k = 0; k < (size_t)n * 2; k++)
      ((double *)A)[k] = harness_unit(3, k);
    for (size_t k = 0; k < (size_t)2 * m; k++)
      ((double *)B)[k] = harness_unit(4, k);
    for (size_t k = 0; k < (size_t)n * 5; k++)
      ((float *)P)[k] = (float)harness_unit(5, k);
    for (size_t k = 0; k < (size_t)5 * m; k++)
      ((float *)Q)[k] = (float)harness_unit(6, k);
    for (size_t k = 0; k < (size_t)n * 9; k++)
      ((double *)S)[k] = harness_unit(7, k);
    for (size_t k = 0; k < (size_t)m * 9; k++)
      ((double *)T)[k] = harness_unit(8, k);
    harness_start();
    kernel_thin(n, m, A, B, C, P, Q, R, S, T, U);
    harness_stop();
  }
  OUTPUT("C", (double *)C, (size_t)n * m);
  OUTPUT("R", (float *)R, (size_t)n * m);
  OUTPUT("U", (double *)U, (size_t)n * m);
  free(A);
  free(B);
  free(C);
  free(P);
  free(Q);
  free(R);
  free(S);
  free(T);
  free(U);
  return harness_finish("thin");
}
