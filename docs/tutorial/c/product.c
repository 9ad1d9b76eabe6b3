/* C = C + A B */
void product(int m, int n, int k, double C[restrict m][n], const double A[restrict m][k],
             const double B[restrict k][n]) {
#pragma scop
  for (int i = 0; i < m; i++)
    for (int j = 0; j < n; j++)
      for (int l = 0; l < k; l++)
        C[i][j] += A[i][l] * B[l][j];
#pragma endscop
}
