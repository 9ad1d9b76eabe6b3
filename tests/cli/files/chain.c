void chain(int n, double *restrict a)
{
#pragma scop
  for (int i = 1; i < n; i++)
    a[i] = a[i - 1] + a[i];
#pragma endscop
}
