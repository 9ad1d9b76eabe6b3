// Flat arrays whose rows are not certain, or not the same everywhere.
void f(int n, int m, int p, double *restrict A, double *restrict B, double *restrict C, double *restrict D)
{
#pragma scop
  for (int i = 0; i < n; i++)
    for (int j = 0; j < p; j++) {
      A[i * m + j] = 1;
      if (j < m)
        B[i * m + j] = 2;
      B[j * n + i] = 3;
      C[i * n * m + j] = 4;
      D[(i + j) * (i + m)] = 5;
    }
#pragma endscop
}
