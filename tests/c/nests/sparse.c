/* Products with sparse matrices, and other loops whose places are data. */
#include "driver.h"

void spmv_csr(double *y, const double *val, const double *x, const int *row, const int *col, int n)
{
#pragma scop
  for (int i = 0; i < n; i++) {
    double sum = 0.0;
    for (int k = row[i]; k < row[i + 1]; k++)
      sum += val[k] * x[col[k]];
    y[i] = sum;
  }
#pragma endscop
}
RUN(spmv_csr, 8000, spmv_csr(D(0), D(1), D(2), STARTS, I(0), n))

void conj_grad(double *p, double *q, double *z, double *r, double *a, int *rowstr, int *colidx, int n)
{
  double d = 0.0, rho = 0.0;
#pragma scop
  for (int j = 0; j < n; j++)
    rho = rho + r[j] * r[j];
  for (int j = 0; j < n; j++) {
    double sum = 0.0;
    for (int k = rowstr[j]; k < rowstr[j + 1]; k++)
      sum = sum + a[k] * p[colidx[k]];
    q[j] = sum;
  }
  for (int j = 0; j < n; j++)
    d = d + p[j] * q[j];
  double alpha = rho / d;
  for (int j = 0; j < n; j++) {
    z[j] = z[j] + alpha * p[j];
    r[j] = r[j] - alpha * q[j];
  }
#pragma endscop
}
RUN(conj_grad, 6000, conj_grad(D(0), D(1), D(2), D(3), D(4), STARTS, I(0), n))

void spmv_ell(double *y, const double *val, const int *col, const double *x, int n, int width)
{
#pragma scop
  for (int i = 0; i < n; i++) {
    y[i] = 0.0;
    for (int k = 0; k < width; k++)
      y[i] += val[i * width + k] * x[col[i * width + k]];
  }
#pragma endscop
}
RUN(spmv_ell, 6000, spmv_ell(D(0), D(1), I(0), D(2), n, 4))

void spmv_coo(double *y, const double *val, const int *row, const int *col, const double *x, int nnz)
{
#pragma scop
  for (int k = 0; k < nnz; k++)
    y[row[k]] += val[k] * x[col[k]];
#pragma endscop
}
RUN(spmv_coo, 10000, spmv_coo(D(0), D(1), I(0), I(1), D(2), n))

void spmv_dia(double *y, const double *val, const double *x, int n)
{
#pragma scop
  for (int d = -1; d <= 1; d++)
    for (int i = 0; i < n; i++)
      if (i + d >= 0 && i + d < n)
        y[i] += val[(d + 1) * n + i] * x[i + d];
#pragma endscop
}
RUN(spmv_dia, 10000, spmv_dia(D(0), D(1), D(2), n))

void gather(double *y, const double *x, const int *index, int n)
{
#pragma scop
  for (int i = 0; i < n; i++)
    y[i] = x[index[i]];
#pragma endscop
}
RUN(gather, 10000, gather(D(0), D(1), I(0), n))

void scatter(double *y, const double *x, const int *index, int n)
{
#pragma scop
  for (int i = 0; i < n; i++)
    y[index[i]] = x[i];
#pragma endscop
}
RUN(scatter, 10000, scatter(D(0), D(1), I(0), n))

void pagerank(double *next, const double *rank, const int *start, const int *from, const int *degree, int n)
{
#pragma scop
  for (int v = 0; v < n; v++) {
    double s = 0.0;
    for (int e = start[v]; e < start[v + 1]; e++)
      s += rank[from[e]] / (degree[from[e]] + 1);
    next[v] = 0.15 / n + 0.85 * s;
  }
#pragma endscop
}
RUN(pagerank, 5000, pagerank(D(0), D(1), STARTS, I(0), I(1), n))

void spmm(double *c, const double *val, const int *row, const int *col, const double *b, int n, int m)
{
#pragma scop
  for (int i = 0; i < n; i++)
    for (int k = row[i]; k < row[i + 1]; k++)
      for (int j = 0; j < m; j++)
        c[i * m + j] += val[k] * b[col[k] * m + j];
#pragma endscop
}
RUN(spmm, 300, spmm(D(0), D(1), STARTS, I(0), D(2), n, n))

void sparse_lower(double *x, const double *val, const int *row, const int *col, const double *diagonal, int n)
{
#pragma scop
  for (int i = 0; i < n; i++) {
    double s = x[i];
    for (int k = row[i]; k < row[i + 1]; k++)
      if (col[k] < i)
        s -= val[k] * x[col[k]];
    x[i] = s / diagonal[i];
  }
#pragma endscop
}
RUN(sparse_lower, 5000, sparse_lower(D(0), D(1), STARTS, I(0), D(2), n))

void bucket_count(int *count, const int *key, int n)
{
#pragma scop
  int i;
  for (i = 0; i < n; i++)
    count[i] = 0;
  for (i = 0; i < n; i++)
    count[key[i]]++;
  for (i = 1; i < n; i++)
    count[i] += count[i - 1];
#pragma endscop
}
RUN(bucket_count, 10000, bucket_count(I(0), I(1), n))

void permute_rows(double *out, const double *in, const int *p, int n, int m)
{
#pragma scop
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++)
      out[i * m + j] = in[p[i] * m + j];
#pragma endscop
}
RUN(permute_rows, 300, permute_rows(D(0), D(1), I(0), n, n))

void degrees(int *out_degree, int *in_degree, const int *from, const int *to, int edges)
{
#pragma scop
  for (int e = 0; e < edges; e++) {
    out_degree[from[e]] += 1;
    in_degree[to[e]] += 1;
  }
#pragma endscop
}
RUN(degrees, 10000, degrees(I(0), I(1), I(2), I(3), n))

void force_pairs(double *f, const double *x, const int *first, const int *second, int pairs)
{
#pragma scop
  for (int k = 0; k < pairs; k++) {
    int i = first[k];
    int j = second[k];
    double d = x[i] - x[j];
    f[i] += d;
    f[j] -= d;
  }
#pragma endscop
}
RUN(force_pairs, 8000, force_pairs(D(0), D(1), I(0), I(1), n))
