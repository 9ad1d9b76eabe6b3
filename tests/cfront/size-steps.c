/* Loops that count by a size: their variable is a product. */
void steps(double *x, int n, int b)
{
#pragma scop
  for (int i = 0; i < n; i += b)
    x[i] = 1.0;
#pragma endscop
}

/* A pass of a transform. */
void pass(double *restrict re, const double *restrict w, int n, int half)
{
#pragma scop
  for (int i = 0; i < n; i += 2 * half)
    for (int j = 0; j < half; j++) {
      double t = w[j] * re[i + j + half];
      re[i + j + half] = re[i + j] - t;
      re[i + j] += t;
    }
#pragma endscop
}

/* A loop that goes on from such a one. */
void tiles(double *restrict x, const double *restrict y, int n, int s)
{
#pragma scop
  for (int ii = 0; ii < n; ii += s)
    for (int i = ii; i < ii + s; i++)
      x[i] = 2 * y[i];
#pragma endscop
}

/* Tiles by hand in rows of another length; downward; by a size without a sign: refused. */
void blocked(double *restrict c, const double *restrict a, const double *restrict b, int n, int m, int s)
{
#pragma scop
  for (int ii = 0; ii < n; ii += s)
    for (int kk = 0; kk < n; kk += s)
      for (int i = ii; i < ii + s; i++)
        for (int k = kk; k < kk + s; k++)
          for (int j = 0; j < m; j++)
            c[i * m + j] += a[i * n + k] * b[k * m + j];
#pragma endscop
}
void down(double *x, int n, int b)
{
#pragma scop
  for (int i = n; i > 0; i -= b)
    x[i] = 1.0;
#pragma endscop
}
void unsigned_step(double *x, int n, unsigned b)
{
#pragma scop
  for (int i = 0; i < n; i += b)
    x[i] = 1.0;
#pragma endscop
}
