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
