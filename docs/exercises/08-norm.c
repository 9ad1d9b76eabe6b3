/* The square of the length of a vector. */
double norm(int n, const double x[restrict n]) {
  double s = 0.0;
#pragma scop
  for (int i = 0; i < n; i++)
    s += x[i] * x[i];
#pragma endscop
  return s;
}
