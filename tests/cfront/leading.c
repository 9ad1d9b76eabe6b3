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
