void products(int n, int m, int k, double C[restrict n][m], const double A[restrict n][k], const double B[restrict k][m],
              const double D[restrict n][k], const double E[restrict k][m], const double F[restrict n][k],
              const double G[restrict k][m])
{
#pragma scop
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++)
      for (int l = 0; l < k; l++)
        C[i][j] += A[i][l] * B[l][j] + D[i][l] * E[l][j] + F[i][l] * G[l][j];
#pragma endscop
}
