/* Pointers that change places after each step. */
void two(int t, int n, double *restrict a, double *restrict b)
{
#pragma scop
  for (int s = 0; s < t; s++) {
    for (int i = 1; i < n; i++) {
      double x = a[i - 1];
      b[i] = x + s;
    }
    double *other = a;
    a = b;
    b = other;
  }
#pragma endscop
  a[0] = 1;
}
void three(int t, int n, float *restrict a, float *restrict b, float *restrict c)
{
  float *held;
#pragma scop
  for (int s = 1; s <= t; s++) {
    for (int i = 0; i < n; i++)
      c[i] = a[i] + b[i];
    held = a, a = b, b = c, c = held;
  }
#pragma endscop
  held[0] = a[0];
}
void pairs(int t, int n, int *restrict a, int *restrict b, int *restrict c, int *restrict d)
{
#pragma scop
  for (int s = 0; s < t; s++) {
    for (int i = 0; i < n; i++)
      b[i] = a[i], d[i] = c[i];
    int *x = a, *y = c;
    a = b, b = x;
    c = d, d = y;
  }
#pragma endscop
}
