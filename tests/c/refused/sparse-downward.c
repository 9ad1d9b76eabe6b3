/* A triangular system with a sparse matrix by columns: where it writes depends on data, and rows are read from behind. */
void kernel_sparse_downward(int n, const int column[restrict n + 1], const int *restrict row, const double *restrict value,
                            double x[restrict n])
{
#pragma scop
  for (int j = 0; j < n; j++)
    for (int k = column[j]; k < column[j + 1]; k++)
      x[row[k]] -= value[k] * x[j];
  for (int j = 0; j < n; j++)
    for (int k = column[j + 1] - 1; k >= column[j]; k--)
      x[j] -= value[k];
#pragma endscop
}
