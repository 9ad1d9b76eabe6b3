/* A product with a sparse matrix: rows begin at row[i]. */
void csr(int n, const int *restrict row, const int *restrict col, const double *restrict val, const double *restrict x, double *restrict y) {
#pragma scop
  for (int i = 0; i < n; i++) {
    y[i] = 0;
    for (int j = row[i]; j < row[i+1]; j++)
      y[i] += val[j] * x[col[j]];
  }
#pragma endscop
}

/* Bytes looked up in a table. */
void translated(int n, const unsigned char *restrict in, const float *restrict table, float *restrict out) {
#pragma scop
  for (int i = 0; i < n; i++)
    out[i] = table[in[i]];
#pragma endscop
}
