// Every form of a header.
void forms(int n, int m, int lo, double x[restrict n])
{
  int i;
  long k;
#pragma scop
  for (i = 0; i <= n - 1; ++i) x[i] = 1;
  for (i = lo; n > i; i += 2) x[i] = 2;
  for (i = 1; i + 1 < n; i = i + 3) x[i] = 3;
  for (i = 0; 2 * i < n; i = 1 + i) x[2 * i] = 4;
  for (i = 0; 3 * i <= n - 2 * m; i++) x[i] = 5;
  for (i = n - 1; i >= 0; i--) x[i] = 6;
  for (i = n; i > lo; i -= 4) x[i - 1] = 7;
  for (i = n - 1; 0 <= i; --i) x[n - 1 - i] += x[i];
  for (i = n - 1; 2 * i >= m; i += -1) x[i] = 8;
  for (k = 0; k < n && k < m + 1L; k++) x[k] = 9;
  for (k = n - 1; k >= lo && k >= 2; k--) x[k] = 10;
  for (int j = 0; j != n; j++) x[j] = 11;
  for (short s = 0; s < 10; s++) x[s] = 12;
  for (i = 0; i < n / 2; i++)
    for (int j = i % 4; j < (i + 3) / 2; j++) x[j] = 13;
  for (i = 0; i < (n < m ? n : m); i++) x[i] = 14;
  for (i = 0; i < n; i++) { int i = 3; x[i] = 15; }
  for (i = 0; i < (n >> 1) + (m << 2); i++) x[i & 7] = 16;
#pragma endscop
}

/* Signed variables that are not negative, beside unsigned bounds. */
void unsigned_bounds(unsigned n, unsigned long m, int lo, double *restrict c)
{
#pragma scop
  for (int i = 0; i < n; i++)
    for (int j = i + 1; j < m; j++)
      c[i] += c[j];
  for (int i = 0; 2 * i + 1 < m; i++)
    c[2 * i] = 3;
  for (int i = lo; i > n; i--)
    c[i] = 3;
#pragma endscop
}
