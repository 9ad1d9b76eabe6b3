/* Rows that are longer than what is used of them, as in BLAS; where they are shorter, they overlap, and the order of the writes tells. */
#include <stdio.h>

static void scale(int n, int m, int lda, double *restrict A)
{
#pragma scop
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++)
      A[i * lda + j] = 2 * A[i * lda + j] + i;
#pragma endscop
}

static void column(int n, int lda, double *restrict A)
{
#pragma scop
  for (int i = 0; i < n; i++)
    A[i * lda] = A[i * lda] * 3 + i;
#pragma endscop
}

static void show(int n, int m, int lda)
{
  static double A[4096];
  for (int i = 0; i < 4096; i++)
    A[i] = i % 7;
  scale(n, m, lda, A);
  column(n, lda, A);
  double sum = 0;
  for (int i = 0; i < 4096; i++)
    sum += A[i] * (i % 11 + 1);
  printf("%d %d %d: %.17g\n", n, m, lda, sum);
}

int main(void)
{
  show(40, 30, 50);
  show(40, 30, 30);
  show(40, 30, 7);
  show(40, 30, 0);
  show(0, 30, 50);
  return 0;
}
