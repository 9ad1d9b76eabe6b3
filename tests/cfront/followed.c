/* Variables that the region assigns and that are made of loop variables and sizes. */
void product(int f, int s, float *restrict x, const float *restrict m)
{
#pragma scop
  for (int i = 0; i < f; i++)
    for (int j = 0; j < s; j++) {
      int ix = i * s + j;
      x[ix] -= m[i];
    }
#pragma endscop
}
int before(int n, double *restrict a, const double *restrict b)
{
  int j = -1;
#pragma scop
  for (int i = 0; i < n; i++) {
    j++;
    a[j] = b[i];
    j++;
    a[j] = 2 * b[i];
  }
#pragma endscop
  return j;
}
void constant(int n, double A[restrict n][n])
{
  int i, j;
#pragma scop
  for (j = 0; j < n; j++) {
    i = 1;
    A[i][j] += 1;
    for (i = 2; i < n; i++)
      A[i][j] += 2;
    A[i - 1][j] += 3;
  }
#pragma endscop
}
void rows(int m, int n, float *restrict x, float A[restrict m][n])
{
#pragma scop
  for (int i = 0; i < m; i++) {
    float *row = x + i * n, *other = A[i];
    for (int j = 0; j < n; j++)
      row[j] *= *(other + j);
  }
#pragma endscop
}
float *advanced(int n, float *x, const float *restrict y)
{
#pragma scop
  for (int i = 0; i < n; i++)
    *x++ = y[n - 1 - i];
#pragma endscop
  return x;
}
/* The extent of A is the size that it had before the region, and the bound is read again. */
void changed(int n, int m, double A[restrict n][m], double *restrict x)
{
#pragma scop
  m = m - 1;
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++)
      A[i][j] = x[m];
#pragma endscop
}
/* Known on both ways, and on one. */
void ways(int n, int m, double *restrict x, const int *restrict p)
{
  int k;
#pragma scop
  for (int i = 0; i < n; i++) {
    if (i < m)
      k = i;
    else
      k = i;
    x[k] = 1;
    if (p[i] > 0)
      k = k + 1;
    x[i] += k;
  }
#pragma endscop
}
/* An unsigned counter must not wrap around; a loop may not run. */
unsigned counters(unsigned n, int m, double *restrict x)
{
  unsigned k = 0;
#pragma scop
  for (int i = 0; i < m; i++) {
    x[k] = 1;
    k += 3;
  }
  k = n - 1;
  for (int i = 0; i < 10; i++)
    x[k + i] = 2;
#pragma endscop
  return k;
}
/* How often the inner loop runs is a factor, so that it must not be negative. */
int packed(int n, int m, double *restrict x, const double *restrict y)
{
  int k = 0;
#pragma scop
  for (int i = 0; i < n; i++) {
    for (int j = 0; j < m; j++)
      x[k++] = y[j] + i;
    for (int j = 0; j < m; j++)
      x[i * m + j] *= 2;
  }
#pragma endscop
  return k;
}
int skipping(int n, int m, double *restrict x)
{
  int k = 0;
#pragma scop
  for (int i = 0; i < n; i++) {
    for (int j = 0; j < m; j++)
      k++;
    k += 2;
  }
  x[k] = 1;
#pragma endscop
  return k;
}
