/* Flat subscripts that are rows and columns only where a size is positive, and the type in the way out. */
void column(int h, int n, float *restrict S)
{
#pragma scop
  for (int i = 0; i < h; i++)
    S[i * n] = 0;
#pragma endscop
}
void last(int h, int n, int *restrict S)
{
#pragma scop
  for (int i = 0; i < h; i++) {
    for (int j = 0; j < n; j++)
      S[i * n + j] = 1;
    S[i * n + n - 1] = 0;
  }
#pragma endscop
}
void outside(int h, int n, unsigned char *restrict S)
{
#pragma scop
  for (int i = 0; i < h; i++)
    for (int j = 0; j <= n; j++)
      S[i * n + j] = 1;
#pragma endscop
}
void shifts(int n, int s, double *restrict a, double *restrict b)
{
#pragma scop
  for (int i = 0; i < n >> s; i++)
    a[i] = 1;
  for (int i = 0; i < n; i++) {
    b[i & s] = 1;
    b[n >> 40] = 1;
  }
#pragma endscop
}
void set(int n, int *restrict z, double *restrict a)
{
  int j;
#pragma scop
  for (int i = 0; i < n; i++) {
    j = i * 2 % 20;
    a[j] = 2;
  }
#pragma endscop
}
/* Rows that are longer than what is used of them, as in BLAS. */
void leading(int n, int m, int k, int lda, double *restrict A, double *restrict B, double *restrict C, double *restrict D)
{
#pragma scop
  for (int j = 0; j < n; j++)
    for (int i = 0; i < m; i++) {
      A[i + j * lda] = 1;
      B[i + 1 + j * (lda + 1)] = 1;
      C[i * n * k + j] = 1;
    }
  for (int j = 0; j < n; j++)
    for (int i = 0; i < m; i++)
      for (int l = 0; l < k; l++)
        D[(j * k + l) * lda + i * 2] = 1;
#pragma endscop
}
