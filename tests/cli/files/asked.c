void a(int n, double c[restrict n][n], double x[restrict n][n], double y[restrict n][n]) {
#pragma scop
#pragma lozenge tile(32, 16) parallel
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
#pragma lozenge unroll(4)
      for (int k = 0; k < n; k++)
        c[i][j] += x[i][k] * y[k][j];
#pragma endscop
}
void b(int n, double c[restrict n][n], double x[restrict n][n]) {
#pragma scop
#pragma lozenge interchange
  for (int i = 0; i < n; i++)
#pragma lozenge parallel
    for (int j = 0; j < n; j++)
      c[j][i] = x[j][i] * 2.0;
#pragma endscop
}
double s(int n, double x[restrict n]) {
  double t = 0.0;
#pragma scop
#pragma lozenge vectorize reduction(+: t)
  for (int i = 0; i < n; i++)
    t += x[i];
#pragma endscop
  return t;
}
void nf(int n, double a[restrict n][n], double b[restrict n][n], double c[restrict n][n]) {
#pragma scop
#pragma lozenge nofuse
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      a[i][j] = b[i][j] + 1.0;
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      c[i][j] = a[i][j] * 2.0;
#pragma endscop
}
