// Flat arrays with subscripts that are rows and columns.
void linear(int n, int m, int p, double *restrict A, double *restrict B, double *restrict C, double *restrict D,
            double *restrict E)
{
#pragma scop
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++) {
      A[i * m + j] = 1;
      A[(i + 1) * m + m - 1 - j] = 2;
      A[m * i] += A[j];
      for (int k = 0; k < p; k++) {
        B[(i * m + j) * p + k] = 3;
        B[i * m * p + j * p + k] += 1;
      }
      if (j < n + 1)
        C[i * (n + 1) + j] = 4;
      D[10 * i + j] = 5;
      E[j * n + i] = E[(j + 1) * n - 1 - i] + 6;
    }
#pragma endscop
}
