/* The sum of some numbers and the sum of their squares, for their mean and variance. */
void moments(int n, const double x[restrict n], double sums[restrict 2]) {
  double s = 0.0, q = 0.0;
#pragma scop
#pragma lozenge reduction(+: s, q)
  for (int i = 0; i < n; i++) {
    s += x[i];
    q += x[i] * x[i];
  }
#pragma endscop
  sums[0] = s;
  sums[1] = q;
}
