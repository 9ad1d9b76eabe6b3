/* The longest common subsequence of two sequences of small numbers. */
#include "harness.h"

#ifdef LARGE
#define N_DEFAULT 3000
#define M_DEFAULT 3000
#else
#define N_DEFAULT 50
#define M_DEFAULT 60
#endif
#ifndef N
#define N N_DEFAULT
#endif
#ifndef M
#define M M_DEFAULT
#endif

static void kernel_lcs(int n, int m, int a[restrict n], int b[restrict m], int L[restrict n + 1][m + 1])
{
#pragma scop
  for (int i = 0; i <= n; i++)
    for (int j = 0; j <= m; j++)
      if (i == 0 || j == 0)
        L[i][j] = 0;
      else
        L[i][j] = a[i - 1] == b[j - 1] ? L[i - 1][j - 1] + 1
                                       : (L[i - 1][j] > L[i][j - 1] ? L[i - 1][j] : L[i][j - 1]);
#pragma endscop
}

int main(int argc, char **argv)
{
  int n = SIZE(N);
  int m = SIZE(M);
  int *a = harness_alloc((size_t)n, sizeof(int));
  int *b = harness_alloc((size_t)m, sizeof(int));
  int (*L)[m + 1] = harness_alloc((size_t)(n + 1) * (size_t)(m + 1), sizeof(int));
  harness_open(argc, argv);
  for (int rep = 0; rep < REPS; rep++) {
    for (size_t k = 0; k < (size_t)n; k++)
      a[k] = (int)(harness_below(1, k, 7));
    for (size_t k = 0; k < (size_t)m; k++)
      b[k] = (int)(harness_below(2, k, 7));
    memset(L, 0, (size_t)(n + 1) * (size_t)(m + 1) * sizeof(int));
    harness_start();
    kernel_lcs(n, m, a, b, L);
    harness_stop();
  }
  OUTPUT("L", (int *)L, (size_t)(n + 1) * (size_t)(m + 1));
  free(a);
  free(b);
  free(L);
  return harness_finish("lcs");
}
