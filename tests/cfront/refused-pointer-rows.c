/* Rows of no known length, rows that are set, and pointers to other pointers. */
void f(int n, double **a, const int *restrict p, double *(*b)[4], double *x)
{
#pragma scop
  for (int i = 0; i < n; i++)
    a[i][p[i]] = 1;
  for (int i = 0; i < n; i++)
    a[i] = x;
  for (int i = 0; i < n; i++)
    b[i][0][1] = 2;
  double *own[2];
  own[0][0] = 1;
#pragma endscop
}
