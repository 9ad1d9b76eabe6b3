// Remainders by a size: one of two differences where the loops bound what is divided.
void periodic(int n, int m, double a[restrict n][m], double b[restrict n][m])
{
#pragma scop
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++)
      b[i][j] = a[(i + 1) % n][j] + a[(i + n - 1) % n][j] + a[i][(j + 2 * m - 1) % m] + a[i % n][(j + m) % m];
#pragma endscop
}
