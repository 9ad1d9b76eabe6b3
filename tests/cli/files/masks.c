void masks(int n, int m, const int a[restrict n][m], const long w[restrict m], long b[restrict n][m])
{
#pragma scop
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++)
      b[i][j] = ((a[i][j] & 7) ^ w[j]) | ~(a[i][j] | 3);
#pragma endscop
}
