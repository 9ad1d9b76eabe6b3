/* Pointers that move on as well, or change places under a condition, or come back after four. */
void moves(int t, int n, double *restrict a, double *restrict b)
{
#pragma scop
  for (int s = 0; s < t; s++) {
    b[0] = a[0];
    double *other = a;
    a = b + 1;
    b = other;
  }
#pragma endscop
}
void sometimes(int t, int n, double *restrict a, double *restrict b)
{
#pragma scop
  for (int s = 0; s < t; s++) {
    b[s] = a[s];
    if (s < n) {
      double *other = a;
      a = b;
      b = other;
    }
  }
#pragma endscop
}
void four(int t, double *restrict a, double *restrict b, double *restrict c, double *restrict d)
{
#pragma scop
  for (int s = 0; s < t; s++) {
    d[0] = a[0] + b[0] + c[0];
    double *other = a;
    a = b, b = c, c = d, d = other;
  }
#pragma endscop
}
