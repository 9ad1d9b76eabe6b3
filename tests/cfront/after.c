// Loop variables that are read after the region get their values.
int after(int n, int m, double *restrict x, double *restrict y)
{
  int i, j, k, l, unread;
#pragma scop
  for (unread = 0; unread < n; unread++) x[unread] = 0;
  for (i = 2; i < n; i++) x[i] = 1;
  for (j = 0; j <= m; j += 3) x[j] = 2;
  for (k = n - 1; k >= 0; k--) x[k] = 3;
  for (l = m; l > 4; l -= 2) y[l] = 4;
#pragma endscop
  for (unread = 0; unread < 3; unread++) y[unread] = 1;
  return i + j + k + l;
}

/* A loop that starts from the value which it sets. */
int onwards(int n, double *restrict a)
{
  int i;
#pragma scop
  for (i = 0; i < n; i++)
    a[i] = 0.0;
#pragma endscop
  for (i = i + 1; i < 2 * n; i++)
    ;
  return 0;
}
