/* Rows that pointers in memory point to: they may overlap, whatever `restrict` says. */
void f(int n, int m, double **restrict a, double **restrict b, double ***u)
{
#pragma scop
  for (int i = 1; i < n - 1; i++)
    for (int j = 1; j < m - 1; j++)
      b[i][j] = a[i - 1][j] + a[i + 1][j] + a[i][j - 1] + a[i][j + 1];
  for (int i = 0; i < n; i++) {
    double *row = b[i];
    for (int j = 0; j < m; j++)
      row[j] += u[1][i][j];
  }
#pragma endscop
}
/* Pointers in an array of the function: what they point to is read after it. */
void g(int n, double *x, double *y)
{
  double *rows[2] = {x, y};
#pragma scop
  for (int i = 0; i < n; i++)
    rows[1][i] = rows[0][i];
#pragma endscop
}

/* An elimination: the first row is reached by `a[k][k]`, the last one by `a[i][j]`. */
void eliminate(int n, double **a)
{
#pragma scop
  for (int k = 0; k < n; k++)
    for (int i = k + 1; i < n; i++) {
      a[i][k] /= a[k][k];
      for (int j = k + 1; j < n; j++)
        a[i][j] -= a[i][k] * a[k][j];
    }
#pragma endscop
}
