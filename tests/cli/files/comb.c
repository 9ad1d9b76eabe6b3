void comb(int n, int m, double B[restrict n + m + 8][n + m + 8], double D[restrict n + m + 8][n + m + 8])
{
#pragma scop
  for (int i = 1; i < m; i++)
    for (int j = 0; j < i + 1; j++)
      for (int k = 0; k < n; k += 2)
        D[i][j] -= B[i][k + 3] - B[i][k];
#pragma endscop
}
