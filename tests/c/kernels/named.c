/* Local variables that only name values: a sweep in time, an alignment of two sequences, one side of a difference by a sign. */
#include "harness.h"

#ifdef LARGE
#define N_DEFAULT 600
#else
#define N_DEFAULT 60
#endif
#ifndef N
#define N N_DEFAULT
#endif

static void kernel_named(int n, int t, double A[restrict n][n], double B[restrict n][n], int S[restrict n][n],
                         const int p[restrict n], const int q[restrict n], double D[restrict n][n])
{
#pragma scop
  for (int k = 0; k < t; k++) {
    for (int i = 1; i < n - 1; i++)
      for (int j = 1; j < n - 1; j++) {
        double around = A[i - 1][j] + A[i + 1][j] + A[i][j - 1] + A[i][j + 1];
        B[i][j] = 0.2 * (A[i][j] + around);
      }
    for (int i = 1; i < n - 1; i++)
      for (int j = 1; j < n - 1; j++) {
        double around = B[i - 1][j] + B[i + 1][j] + B[i][j - 1] + B[i][j + 1];
        A[i][j] = 0.2 * (B[i][j] + around);
      }
  }
#pragma endscop
#pragma scop
  for (int i = 1; i < n; i++)
    for (int j = 1; j < n; j++) {
      int best = S[i - 1][j - 1] + (p[i] == q[j] ? 2 : -1);
      int left = S[i][j - 1] - 1, up = S[i - 1][j] - 1;
      if (left > best)
        best = left;
      if (up > best)
        best = up;
      if (best < 0)
        best = 0;
      S[i][j] = best;
    }
#pragma endscop
#pragma scop
  for (int i = 1; i < n - 1; i++)
    for (int j = 0; j < n; j++) {
      double flow;
      if (B[i][j] > 0)
        flow = A[i][j] - A[i - 1][j];
      else
        flow = A[i + 1][j] - A[i][j];
      D[i][j] = A[i][j] - B[i][j] * flow;
    }
#pragma endscop
}

int main(int argc, char **argv)
{
  int n = SIZE(N), t = 1 + n / 4;
  double (*A)[n] = harness_alloc((size_t)n * n, sizeof(double));
  double (*B)[n] = harness_alloc((size_t)n * n, sizeof(double));
  double (*D)[n] = harness_alloc((size_t)n * n, sizeof(double));
  int (*S)[n] = harness_alloc((size_t)n * n, sizeof(int));
  int *p = harness_alloc((size_t)n, sizeof(int));
  int *q = harness_alloc((size_t)n, sizeof(int));
  harness_open(argc, argv);
  for (int rep = 0; rep < REPS; rep++) {
    for (size_t k = 0; k < (size_t)n * n; k++) {
      ((double *)A)[k] = harness_unit(1, k) - 0.5;
      ((double *)B)[k] = harness_unit(2, k) - 0.5;
      ((int *)S)[k] = 0;
    }
    for (size_t k = 0; k < (size_t)n; k++) {
      p[k] = harness_below(3, k, 4);
      q[k] = harness_below(4, k, 4);
    }
    harness_start();
    kernel_named(n, t, A, B, S, p, q, D);
    harness_stop();
  }
  OUTPUT("A", (double *)A, (size_t)n * n);
  OUTPUT("S", (int *)S, (size_t)n * n);
  OUTPUT("D", (double *)D, (size_t)n * n);
  free(A);
  free(B);
  free(D);
  free(S);
  free(p);
  free(q);
  return harness_finish("named");
}
