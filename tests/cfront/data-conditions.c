// Conditions on data under which statements run; decided once where the branches write what they read.
void g(int n, int m, double A[restrict n][m], double x[restrict n], int w[restrict n])
{
  double last = 0;
#pragma scop
  for (int i = 0; i < n; i++) {
    if (w[i] > 0)
      for (int j = 0; j < m; j++)
        A[i][j] = x[i];
    else if (w[i] < -1) {
      x[i] = last;
      w[i] = 0;
    }
    if (x[i] > 0 && i > 0 && w[i - 1] == 2)
      A[i][0] = 1;
    if (i * i < n)
      A[i][1] = 2;
    if (x[i] > last)
      last = x[i];
  }
#pragma endscop
  x[0] = last;
}
