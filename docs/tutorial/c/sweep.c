/* One sweep of Gauss and Seidel: an element needs the new values above and to its left. */
void sweep(int n, double a[restrict n][n]) {
#pragma scop
  for (int i = 1; i < n - 1; i++)
    for (int j = 1; j < n - 1; j++)
      a[i][j] = 0.25 * (a[i - 1][j] + a[i + 1][j] + a[i][j - 1] + a[i][j + 1]);
#pragma endscop
}
