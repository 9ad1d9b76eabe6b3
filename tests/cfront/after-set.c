/* Loop variables that are set behind the region need no value from it; what may not be set does. */
void set(int n, double *restrict a, double *restrict out) {
  int i, j;
#pragma scop
  for (i = 0; i < n; i++)
    for (j = 0; j < 4; j++)
      out[i] += a[i] * j;
#pragma endscop
  if (n > 3)
    out[0] = 1;
  j = n;
  out[0] += i + j;
}
