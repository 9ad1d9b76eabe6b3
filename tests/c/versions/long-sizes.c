/* Sizes of 64 bits near their end: nothing runs, but tiles of such loops would be beyond 64 bits. */
#include <limits.h>
#include <stdio.h>

static void columns(long n, long m, double *restrict a, double b[restrict 8][100])
{
#pragma scop
  for (long i = 0; i < m; i++)
    for (long j = 0; j < n; j++)
      a[j] = a[j] * 0.5 + b[i][j];
#pragma endscop
}

static void counted(unsigned long n, double *restrict a)
{
#pragma scop
  for (unsigned long i = 0; i + 3 < n; i++)
    if (i < 50)
      a[i] += (double)i;
#pragma endscop
}

int main(void)
{
  static double a[100], b[8][100];
  for (int i = 0; i < 8; i++)
    for (int j = 0; j < 100; j++)
      b[i][j] = i * j % 7;
  columns(100, 8, a, b);
  columns(LONG_MAX, 0, a, b);
  columns(LONG_MIN, 3, a, b);
  counted(60, a);
  counted(2, a);
  for (int i = 0; i < 100; i++)
    printf("%a ", a[i]);
  return 0;
}
