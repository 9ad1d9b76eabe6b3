/* y[i] is the value of the polynomial with coefficients c at x[i]. */
void polynomial(int n, int m, double y[restrict n], const double x[restrict n],
                const double c[restrict m]) {
#pragma scop
  for (int i = 0; i < n; i++) {
    y[i] = 0;
    int k = m;
  again:
    if (k > 0) {
      k--;
      y[i] = y[i] * x[i] + c[k];
      goto again;
    }
  }
#pragma endscop
}
