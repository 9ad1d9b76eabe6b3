/* Workspaces that are read twice, longer than what is written, written from the second element on, or declared inside; a triangle of sums before another nest. */
#include "../../c/kernels/harness.h"

#define NR_DEFAULT 6
#define NQ_DEFAULT 5
#define NP_DEFAULT 20
#ifndef NR
#define NR NR_DEFAULT
#endif
#ifndef NQ
#define NQ NQ_DEFAULT
#endif
#ifndef NP
#define NP NP_DEFAULT
#endif

static void workspaces(int nr, int nq, int np, double A[restrict nr][nq][np], double B[restrict nr][nq][np],
                       double C[restrict nr][nq][np], double F[restrict np][np], double sum[restrict np + 3],
                       double part[restrict np], double L[restrict np][np], double M[restrict np][np])
{
#pragma scop
  for (int r = 0; r < nr; r++)
    for (int q = 0; q < nq; q++) {
      for (int p = 0; p < np; p++) {
        sum[p] = 0;
        for (int s = 0; s < np; s++)
          sum[p] += A[r][q][s] * F[s][p];
      }
      for (int p = 0; p < np; p++)
        A[r][q][p] = sum[p] * sum[p] + sum[np - 1 - p];
    }
#pragma endscop
#pragma scop
  for (int r = 0; r < nr; r++)
    for (int q = 0; q < nq; q++) {
      for (int p = 1; p < np; p++)
        part[p] = B[r][q][p] + B[r][q][p - 1];
      for (int p = 1; p < np; p++)
        B[r][q][p] = part[p] > 1 ? part[p] : F[p][p];
    }
#pragma endscop
#pragma scop
  for (int r = 0; r < nr; r++)
    for (int q = 0; q < nq; q++) {
      double own[np + 2];
      for (int p = 0; p < np; p++) {
        own[p] = 0;
        for (int s = 0; s < np; s++)
          own[p] += C[r][q][s] * F[s][p];
      }
      for (int p = 0; p < np; p++)
        C[r][q][p] = own[p] * own[p];
    }
#pragma endscop
#pragma scop
  for (int i = 0; i < np; i++)
    for (int j = 0; j <= i; j++) {
      double s = 0.0;
      for (int k = 0; k < np; k++)
        s += F[i][k] * F[j][k];
      L[i][j] = s;
    }
  for (int i = 0; i < np; i++)
    for (int j = 0; j < np; j++)
      M[i][j] = L[i][j] + 1;
#pragma endscop
}

static double *filled(size_t count)
{
  double *a = harness_alloc(count, sizeof(double));
  for (size_t k = 0; k < count; k++)
    a[k] = harness_unit(1, k);
  return a;
}

int main(int argc, char **argv)
{
  int nr = SIZE(NR), nq = SIZE(NQ), np = SIZE(NP);
  size_t all = (size_t)nr * (size_t)nq * (size_t)np, square = (size_t)np * (size_t)np, row = (size_t)np;
  harness_open(argc, argv);
  double *A = filled(all), *B = filled(all), *C = filled(all), *F = filled(square), *sum = filled(row + 3);
  double *part = filled(row), *L = filled(square), *M = filled(square);
  harness_start();
  workspaces(nr, nq, np, (void *)A, (void *)B, (void *)C, (void *)F, sum, part, (void *)L, (void *)M);
  harness_stop();
  OUTPUT("A", A, all);
  OUTPUT("B", B, all);
  OUTPUT("C", C, all);
  OUTPUT("sum", sum, row + 3);
  OUTPUT("part", part, row);
  OUTPUT("L", L, square);
  OUTPUT("M", M, square);
  free(A), free(B), free(C), free(F), free(sum), free(part), free(L), free(M);
  return harness_finish("workspaces");
}
