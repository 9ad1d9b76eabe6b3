/* Rows that are declared above the nest: filled in each iteration before they are read, and not. */
void filled(int n, int m, double u[restrict n][m], double r[restrict n][m])
{
  double s[514], t[514][2], old[514];
#pragma scop
  for (int i = 0; i < n; i++) {
    for (int j = 0; j < m; j++) {
      s[j] = u[i][j] * 2;
      t[j][0] = u[i][j];
      t[j][1] = s[j];
    }
    for (int j = 1; j < m - 1; j++)
      r[i][j] = s[j - 1] + s[j + 1] + t[j][0];
    for (int j = 0; j < m; j++)
      old[j] += r[i][j];
    for (int j = 0; j < m; j++)
      r[i][j] = old[j];
  }
#pragma endscop
}
/* Too little is filled, or perhaps; used after the region; by a pointer before it. */
double not_filled(int n, int m, double r[restrict n][m], double *restrict x)
{
  double a[100], b[100], c[100], d[100], *p = d;
  *p = 1;
#pragma scop
  for (int i = 0; i < n; i++) {
    for (int j = 1; j < m; j++)
      a[j] = r[i][j];
    for (int j = 0; j < m; j++) {
      if (x[j] > 0)
        b[j] = 2;
      c[j] = x[j];
      d[j] = x[j];
    }
    for (int j = 0; j < m; j++)
      r[i][j] = a[j] + b[j] + c[j] + d[j];
  }
#pragma endscop
  return c[0];
}
