void converts(int n, const double a[restrict n], int b[restrict n], long c[restrict n]) {
#pragma scop
  for (int i = 0; i < n; i++) { b[i] = (int)(a[i] * 1e12); c[i] = (long)a[i]; }
#pragma endscop
}
