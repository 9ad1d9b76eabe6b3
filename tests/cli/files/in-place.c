/* Every read is of what was there before: parallel from a copy, and nothing is without. */
void in_place(int n, double a[restrict n + 1], double c[restrict n][n])
{
#pragma scop
  for (int i = 0; i < n; i++)
    a[i] = 0.5 * a[i + 1] + 1.0;
  for (int i = 0; i + 1 < n; i++)
    for (int j = 0; j + 1 < n; j++)
      c[i][j] = c[i + 1][j] + c[i][j + 1];
#pragma endscop
}
