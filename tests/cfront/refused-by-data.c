/* Places and lengths by data that are not taken. */
void writes(int n, const int in[restrict n], double a[restrict n], double b[restrict n][n])
{
#pragma scop
  for (int i = 0; i < n; i++) {
    a[in[i]] = 0;
    b[i][in[i]] += a[i];
  }
#pragma endscop
}

void loops(int n, const int row[restrict n + 1], int own[restrict n], double a[restrict n], const double *restrict x)
{
  int last;
#pragma scop
  for (int i = 0; i < n; i++) {
    for (int k = row[i + 1]; k > row[i]; k--)
      a[i] += 1;
    for (unsigned k = row[i]; k < row[i + 1]; k++)
      a[i] += 1;
    for (int k = row[i]; k != row[i + 1]; k++)
      a[i] += 1;
    for (int k = 0; k < own[i]; k++)
      own[i] -= 1;
    for (int k = 0; k < a[i]; k++)
      own[i] += 1;
  }
  for (last = row[0]; last < row[1]; last++)
    a[last] = 1;
#pragma endscop
  a[0] = last;
}

/* Flat, and at once by data: not known as rows. */
void rows(int n, int m, const int in[restrict n], const double *restrict x, double a[restrict n])
{
#pragma scop
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++)
      a[i] += x[i * m + j] * x[in[i]];
#pragma endscop
}
