/* What is assigned to counts, or the variable that counts down has no sign, or counts before it is compared. */
void chained(int n, double *restrict a, int *restrict z)
{
#pragma scop
  for (int i = 0; i < n; i++)
    a[i] = z[z[i]++] = 1;
  for (unsigned j = n; j-- > 0;)
    a[j] = 1;
  for (int j = n; --j > 0;)
    a[j] = 1;
  for (int j = n; j-- > 1;)
    a[j] = 1;
#pragma endscop
}
