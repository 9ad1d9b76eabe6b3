/* Rows that are longer than what is used of them: a condition says so. */
void leading(int n, int m, int lda, double *restrict A)
{
#pragma scop
  if (m <= lda)
    for (int j = 0; j < n; j++)
      for (int i = 0; i < m; i++)
        A[i + j * lda] = 1;
#pragma endscop
}
/* Rows within planes: both are longer than what is used, and remainders have bounds. */
void planes(int c, int h, int w, int height, int width, float *restrict x, const float *restrict y)
{
#pragma scop
  for (int k = 0; k < c; k++)
    for (int i = 0; i < h; i++)
      for (int j = 0; j < w; j++)
        x[(k * h + i) * w + j] = y[(k / 9 * height + i + k / 3 % 3) * width + j + k % 3];
#pragma endscop
}
