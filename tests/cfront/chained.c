/* `x = y = e` assigns `y` first, with the conversions of each. */
void chained(int n, double *restrict a, int *restrict z, float C[restrict n][n])
{
#pragma scop
  for (int i = 0; i < n; i++) {
    C[i][0] = C[i][i] = 1;
    a[i] = z[i] = a[i] * 2;
    a[i] += C[i][0] = z[i] *= 3;
    if (z[i] > 3)
      a[i] = C[i][0] = 0;
  }
#pragma endscop
}
/* `i-- > 0`: signed variables only. */
int down(int n, unsigned m, double *restrict a, double *restrict b)
{
  int i;
#pragma scop
  for (i = n; i-- > 0;)
    a[i] = 1;
  for (long j = n + 1; j-- > 0;)
    b[j] = a[0];
#pragma endscop
  return i;
}
