/* A dead scalar that is used at several depths has a local of its own wherever nothing goes from one use to another. */
#include <math.h>
void cholesky(int n, double A[restrict n][n])
{
  double s;
#pragma scop
  for (int j = 0; j < n; j++) {
    s = A[j][j];
    for (int k = 0; k < j; k++)
      s -= A[j][k] * A[j][k];
    A[j][j] = sqrt(s);
    for (int i = j + 1; i < n; i++) {
      s = A[i][j];
      for (int k = 0; k < j; k++)
        s -= A[i][k] * A[j][k];
      A[i][j] = s / A[j][j];
    }
  }
#pragma endscop
}
void one_behind_the_other(int n, int m, double *restrict a, double *restrict b, double *restrict c)
{
  double s, s_1;
#pragma scop
  for (int i = 0; i < n; i++) {
    s = a[i];
    a[i] = s * s;
  }
  if (m > 3)
    for (int i = 0; i < n; i++) {
      s = b[i];
      b[i] = s * s;
      s = b[i] + 1;
      s_1 = s;
      b[i] += s_1;
    }
  for (int i = 0; i < n; i++) {
    for (int j = 0; j < m; j++) {
      s = c[i];
      c[i] = s + s;
    }
    for (int j = 0; j < m; j++)
      if (j > 3)
        s = a[j];
  }
#pragma endscop
}
void between(int n, double *restrict a, double *restrict b)
{
  double s, t, u;
#pragma scop
  for (int i = 0; i < n; i++) {
    s = a[i];
    for (int j = 0; j < n; j++)
      b[j] += s;
    for (int j = 0; j < n; j++) {
      if (j > 0)
        s = b[j];
      a[j] = s;
    }
    t = 0;
    for (int j = 0; j < n; j++)
      t = b[j];
    a[0] = t;
    if (i > 3)
      u = 1;
    else
      u = 2;
    a[1] += u;
    for (int j = 0; j < n; j++) {
      u = b[j];
      b[j] = u * u;
    }
    u = 3;
    a[2] += u;
  }
#pragma endscop
}
