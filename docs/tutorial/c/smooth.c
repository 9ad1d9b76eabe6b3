/* t times, each inner element becomes the mean of its four neighbours. */
void smooth(int t, int n, double a[restrict n][n], double b[restrict n][n]) {
#pragma scop
  for (int s = 0; s < t; s++) {
    for (int i = 1; i < n - 1; i++)
      for (int j = 1; j < n - 1; j++)
        b[i][j] = 0.25 * (a[i - 1][j] + a[i + 1][j] + a[i][j - 1] + a[i][j + 1]);
    for (int i = 1; i < n - 1; i++)
      for (int j = 1; j < n - 1; j++)
        a[i][j] = b[i][j];
  }
#pragma endscop
}
