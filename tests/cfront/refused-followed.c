/* Pointers and counters whose values do not follow. */
void f(int n, int m, double *restrict a, double *restrict b, double A[restrict n][m], const int *restrict p)
{
  double *q, *r = a;
  int i, k = 0;
#pragma scop
  for (int j = 0; j < n; j++) {
    q = p[j] > 0 ? a : b;
    q[j] = 1;
    if (p[j] > 0)
      r = b;
    r[j] = 2;
    double *row = A[j];
    row[m] = 3;
    const int *narrow = p + j;
    double *other = (double *)narrow;
    other[0] = 4;
  }
  for (i = 0; i < n; i++)
    i += p[i];
  for (k = 0; k < n; k++)
    a[k] = 1;
  k = p[0];
#pragma endscop
}
double *g(int n, int m, double *restrict a)
{
  double *p = a;
#pragma scop
  for (int i = 0; i < n; i++)
    for (int j = 0; j < i; j++)
      *p++ = 1;
#pragma endscop
  return p;
}
/* The loop changes its own bound. */
void h(int n, double *restrict a)
{
#pragma scop
  for (int i = 0; i < n; i++) {
    a[i] = 1;
    n = n - 1;
  }
#pragma endscop
}
