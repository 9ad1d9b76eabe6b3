/* Arrays go on behind the loops' ends, and subscripts run downward: a core that only comes by for what others share has no empty box there. */
void roomy(int n, int m, double alpha, const double B[restrict m + 100][n + 8], const double z[restrict n],
           const double D[restrict n + m][n + m + 8], double x[restrict m + 8], double y[restrict m],
           double C[restrict n + m + 8][n + m])
{
#pragma scop
  for (int i = 0; i < m; i++) {
    x[i] = 0;
    for (int j = 1; j < n; j++)
      x[i] += B[i][j] * z[j];
  }
  for (int i = 0; i < m; i++) {
    y[m - 1 - i] = 0;
    for (int j = 0; j < n; j++)
      y[m - 1 - i] += B[m - 1 - i][n - 1 - j] * z[j];
  }
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++) {
      C[n - 1 - i][m - 1 - j] = 0;
      for (int k = 1; k < n; k++)
        C[n - 1 - i][m - 1 - j] += alpha * D[n - 1 - i][k] * D[k][m - 1 - j];
    }
#pragma endscop
}
