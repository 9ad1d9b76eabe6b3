/* What is assigned to counts. */
void chained(int n, double *restrict a, int *restrict z)
{
#pragma scop
  for (int i = 0; i < n; i++)
    a[i] = z[z[i]++] = 1;
#pragma endscop
}
