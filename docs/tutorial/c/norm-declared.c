/* The sum of squares, in any order of additions. */
double norm(int n, const double x[restrict n]) {
  double s = 0;
#pragma scop
#pragma lozenge reduction(+: s)
  for (int i = 0; i < n; i++)
    s += x[i] * x[i];
#pragma endscop
  return s;
}
