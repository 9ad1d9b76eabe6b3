/* Pointers that may overlap, one from the back, and an object of the file. */
#include <stdio.h>

static double table[40000];

static void copied(int n, double *p, const double *q)
{
#pragma scop
  for (int i = 1; i < n; i++)
    p[i] = q[i - 1] * 0.5 + table[i];
#pragma endscop
}

static void rows(int n, double (*A)[n], double *x)
{
#pragma scop
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      A[i][j] += x[j - 1];
#pragma endscop
}

int main(void)
{
  static double a[40000], b[40000], m[102][100];
  for (int i = 0; i < 40000; i++)
    a[i] = b[i] = table[i] = i % 13;
  copied(30000, a, b);
  copied(30000, a, a);
  copied(30000, a + 5, a);
  copied(20000, table + 100, b);
  copied(0, a, a);
  rows(100, m + 1, b + 1);
  rows(100, m + 1, &m[1][3]);
  rows(100, m + 1, &m[101][1]);
  double s = 0;
  for (int i = 0; i < 40000; i++)
    s = s * 0.999 + a[i] + 3 * table[i] + ((double *)m)[i % 10200];
  printf("%a\n", s);
  return 0;
}
