void relax(int n, double *restrict a, const double *restrict f)
{
#pragma scop
  for (int i = 1; i < n - 1; i++)
    for (int j = 1; j < n - 1; j++)
      a[i * n + j] = f[i * n + j] + f[(i - 1) * n + j];
#pragma endscop
}
