/* The length of the longest common subsequence of the beginnings of two texts. */
void lattice(int n, int m, int l[restrict n + 1][m + 1], const int same[restrict n + 1][m + 1]) {
#pragma scop
  for (int i = 1; i <= n; i++)
    for (int j = 1; j <= m; j++)
      l[i][j] = same[i][j] ? l[i - 1][j - 1] + 1
                           : (l[i - 1][j] > l[i][j - 1] ? l[i - 1][j] : l[i][j - 1]);
#pragma endscop
}
