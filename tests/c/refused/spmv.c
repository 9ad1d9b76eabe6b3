/* A sparse matrix times a vector: bounds and subscripts depend on data. */
void kernel_spmv(int n, const int row[restrict n + 1], const int *restrict column, const double *restrict value,
                 const double *restrict x, double y[restrict n])
{
#pragma scop
  for (int i = 0; i < n; i++) {
    y[i] = 0;
    for (int k = row[i]; k < row[i + 1]; k++)
      y[i] += value[k] * x[column[k]];
  }
#pragma endscop
}
