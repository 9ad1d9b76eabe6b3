void f(int n, int m, double A[restrict n], double B[restrict n][m], int *restrict at, double *restrict flat, double r)
{
  int k = 0;
#pragma scop
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++) {
      A[i * j] = 0;
      A[at[i]] += 1;
      B[i][j / n] = 2;
      B[i % m][j] = 3;
      A[(int)r] = 4;
      A[k] = 5;
      k = k + 1;
      flat[i * m + 2 * j] = 6;
      flat[i * m + j + n] = 7;
      A[i ^ 1] = 8;
      A[i > 2] = 9;
      A[2.5] = 10;
      A[i / -2] = 11;
      B[i] = 12;
      A[i][j] = 13;
      if (A[i] > 0) A[i] = 14;
      if (i * i < n) A[i] = 15;
      if (i < r) A[i] = 16;
    }
#pragma endscop
}
