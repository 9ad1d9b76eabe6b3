/* A pragma before a loop around the region, or before a declaration: both are seen. */
void around(int n, int m, double *restrict a)
{
  double s = 0;
#pragma GCC ivdep
  for (int t = 0; t < m; t++) {
    a[0] += s;
#pragma scop
    for (int i = 0; i < n; i++) {
      s = a[i];
      a[i] = s * s;
    }
#pragma endscop
  }
}
void declared(int n)
{
#pragma GCC diagnostic ignored "-Wunused"
  double x[100];
#pragma scop
  for (int i = 0; i < n; i++)
    x[i] = i;
#pragma endscop
}
