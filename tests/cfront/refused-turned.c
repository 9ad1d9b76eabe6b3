/* Integers with subscripts. */
void not_arrays(int n, double *restrict a)
{
#pragma scop
  for (int i = 0; i < n; i++)
    a[i] = i[i] + 1;
  for (int i = 0; i < n; i++) {
    int q = i + 1;
    a[i] = q[0];
    for (a[0] = 0; a[0] < 3; a[0]++)
      a[i] = 0;
  }
#pragma endscop
}
