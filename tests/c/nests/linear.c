/* Dense linear algebra as in LINPACK, EISPACK and their translations: increments, leading dimensions,
   columns first, matrices one after the other. */
#include "driver.h"

void daxpy(int n, double da, double dx[], int incx, double dy[], int incy)
{
#pragma scop
  int i, ix = 0, iy = 0;
  for (i = 0; i < n; i++) {
    dy[iy] = dy[iy] + da * dx[ix];
    ix = ix + incx;
    iy = iy + incy;
  }
#pragma endscop
}
RUN(daxpy, 6000, daxpy(n, 0.5, D(0), 1, D(1), 2))

double ddot(int n, double *dx, int incx, double *dy, int incy)
{
  double dtemp = 0.0;
#pragma scop
  int ix = 0, iy = 0;
  for (int i = 0; i < n; i++) {
    dtemp += dx[ix] * dy[iy];
    ix += incx;
    iy += incy;
  }
#pragma endscop
  return dtemp;
}
RUN(ddot, 6000, D(2)[0] = ddot(n, D(0), 1, D(1), 1))

void dscal_unrolled(int n, double da, double *dx)
{
#pragma scop
  int m = n % 4;
  for (int i = 0; i < m; i++)
    dx[i] = da * dx[i];
  for (int i = m; i < n; i += 4) {
    dx[i] = da * dx[i];
    dx[i + 1] = da * dx[i + 1];
    dx[i + 2] = da * dx[i + 2];
    dx[i + 3] = da * dx[i + 3];
  }
#pragma endscop
}
RUN(dscal_unrolled, 10000, dscal_unrolled(n, 1.0001, D(0)))

int idamax(int n, double *dx)
{
  int itemp = 0;
#pragma scop
  double dmax = fabs(dx[0]);
  for (int i = 1; i < n; i++) {
    if (fabs(dx[i]) > dmax) {
      itemp = i;
      dmax = fabs(dx[i]);
    }
  }
#pragma endscop
  return itemp;
}
RUN(idamax, 6000, I(0)[0] = idamax(n, D(0)))

void dgemv(double *y, double *a, double *x, int m, int n, int lda)
{
#pragma scop
  for (int j = 0; j < n; j++) {
    double temp = x[j];
    for (int i = 0; i < m; i++)
      y[i] += temp * a[i + j * lda];
  }
#pragma endscop
}
RUN(dgemv, 400, dgemv(D(0), D(1), D(2), n, n, n))

void dger(double *a, double *x, double *y, int m, int n, int lda)
{
#pragma scop
  for (int j = 0; j < n; j++)
    for (int i = 0; i < m; i++)
      a[i + j * lda] += x[i] * y[j];
#pragma endscop
}
RUN(dger, 400, dger(D(0), D(1), D(2), n, n, n))

void dgefa(double *a, int lda, int n)
{
#pragma scop
  for (int k = 0; k < n - 1; k++) {
    double t = -1.0 / a[lda * k + k];
    for (int i = k + 1; i < n; i++)
      a[lda * k + i] *= t;
    for (int j = k + 1; j < n; j++) {
      double s = a[lda * j + k];
      for (int i = k + 1; i < n; i++)
        a[lda * j + i] += s * a[lda * k + i];
    }
  }
#pragma endscop
}
RUN(dgefa, 120, dgefa(D(0), n, n))

void dgesl(double *a, int lda, int n, double *b)
{
#pragma scop
  for (int k = 0; k < n - 1; k++) {
    double t = b[k];
    for (int i = k + 1; i < n; i++)
      b[i] += t * a[lda * k + i];
  }
  for (int kb = 0; kb < n; kb++) {
    int k = n - (kb + 1);
    b[k] = b[k] / a[lda * k + k];
    double t = -b[k];
    for (int i = 0; i < k; i++)
      b[i] += t * a[lda * k + i];
  }
#pragma endscop
}
RUN(dgesl, 300, dgesl(D(0), n, n, D(1)))

void dtrmv(double *x, const double *a, int n)
{
#pragma scop
  for (int i = 0; i < n; i++) {
    double t = 0;
    for (int j = i; j < n; j++)
      t += a[i * n + j] * x[j];
    x[i] = t;
  }
#pragma endscop
}
RUN(dtrmv, 400, dtrmv(D(0), D(1), n))

void dsyrk(double *c, const double *a, int n, int k)
{
#pragma scop
  for (int i = 0; i < n; i++)
    for (int j = 0; j <= i; j++) {
      double s = 0;
      for (int l = 0; l < k; l++)
        s += a[i * k + l] * a[j * k + l];
      c[i * n + j] = s;
    }
#pragma endscop
}
RUN(dsyrk, 120, dsyrk(D(0), D(1), n, n))

void symmetrize(double *a, int n)
{
#pragma scop
  int i, j;
  for (i = 0; i < n; i++)
    for (j = i + 1; j < n; j++)
      a[j * n + i] = a[i * n + j];
#pragma endscop
}
RUN(symmetrize, 400, symmetrize(D(0), n))

void transpose_in_place(double *a, int n)
{
#pragma scop
  for (int i = 0; i < n; i++)
    for (int j = 0; j < i; j++) {
      double t = a[i * n + j];
      a[i * n + j] = a[j * n + i];
      a[j * n + i] = t;
    }
#pragma endscop
}
RUN(transpose_in_place, 400, transpose_in_place(D(0), n))

void identity(double *a, int n)
{
#pragma scop
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      a[i * n + j] = (i == j);
#pragma endscop
}
RUN(identity, 400, identity(D(0), n))

void blocked_mm(double *c, double *a, double *b, int n, int bs)
{
#pragma scop
  for (int ii = 0; ii < n; ii += bs)
    for (int kk = 0; kk < n; kk += bs)
      for (int i = ii; i < ii + bs; i++)
        for (int k = kk; k < kk + bs; k++)
          for (int j = 0; j < n; j++)
            c[i * n + j] += a[i * n + k] * b[k * n + j];
#pragma endscop
}
RUN(blocked_mm, 128, blocked_mm(D(0), D(1), D(2), n / 8 * 8, 8))

void batched_mm(float *c, const float *a, const float *b, int batch, int n)
{
#pragma scop
  for (int p = 0; p < batch; p++) {
    const float *ap = a + p * n * n, *bp = b + p * n * n;
    float *cp = c + p * n * n;
    for (int i = 0; i < n; i++)
      for (int j = 0; j < n; j++) {
        float s = 0;
        for (int k = 0; k < n; k++)
          s += ap[i * n + k] * bp[k * n + j];
        cp[i * n + j] = s;
      }
  }
#pragma endscop
}
RUN(batched_mm, 48, batched_mm(F(0), F(1), F(2), n < 16 ? n : 16, n))

void givens(double *x, double *y, double c, double s, int n)
{
#pragma scop
  for (int i = 0; i < n; i++) {
    double temp = c * x[i] + s * y[i];
    y[i] = c * y[i] - s * x[i];
    x[i] = temp;
  }
#pragma endscop
}
RUN(givens, 8000, givens(D(0), D(1), 0.6, 0.8, n))

void householder(double *a, double *v, double beta, int m, int n)
{
#pragma scop
  for (int j = 0; j < n; j++) {
    double sum = 0.0;
    for (int i = 0; i < m; i++)
      sum += v[i] * a[i * n + j];
    sum *= beta;
    for (int i = 0; i < m; i++)
      a[i * n + j] -= sum * v[i];
  }
#pragma endscop
}
RUN(householder, 300, householder(D(0), D(1), 0.125, n, n))

void kronecker(double *c, const double *a, const double *b, int n)
{
#pragma scop
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      for (int k = 0; k < n; k++)
        for (int l = 0; l < n; l++)
          c[((i * n + k) * n + j) * n + l] = a[i * n + j] * b[k * n + l];
#pragma endscop
}
RUN(kronecker, 24, kronecker(D(0), D(1), D(2), n))

void covariance(double *cov, double *data, double *mean, int n, int m)
{
#pragma scop
  for (int j = 0; j < m; j++) {
    mean[j] = 0.0;
    for (int i = 0; i < n; i++)
      mean[j] += data[i * m + j];
    mean[j] /= n;
  }
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++)
      data[i * m + j] -= mean[j];
  for (int i = 0; i < m; i++)
    for (int j = i; j < m; j++) {
      cov[i * m + j] = 0.0;
      for (int k = 0; k < n; k++)
        cov[i * m + j] += data[k * m + i] * data[k * m + j];
      cov[i * m + j] /= (n - 1.0);
      cov[j * m + i] = cov[i * m + j];
    }
#pragma endscop
}
RUN(covariance, 120, covariance(D(0), D(1), D(2), n, n))

void column_norms(double **a, double *norm, int n)
{
#pragma scop
  for (int j = 0; j < n; j++) {
    norm[j] = 0;
    for (int i = 0; i < n; i++)
      norm[j] += a[i][j] * a[i][j];
    norm[j] = sqrt(norm[j]);
  }
#pragma endscop
}
RUN(column_norms, 300, column_norms(ROWS(0), D(1), n))

void gauss_jordan(double **a, int n)
{
#pragma scop
  for (int k = 0; k < n; k++)
    for (int i = 0; i < n; i++) {
      if (i == k) continue;
      double f = a[i][k] / a[k][k];
      for (int j = k; j < n; j++)
        a[i][j] -= f * a[k][j];
    }
#pragma endscop
}
RUN(gauss_jordan, 120, gauss_jordan(ROWS(0), n))

void outer_add(double *a, double *u1, double *v1, double *u2, double *v2, double *x, double *y, int n)
{
#pragma scop
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      a[i * n + j] = a[i * n + j] + u1[i] * v1[j] + u2[i] * v2[j];
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      x[i] = x[i] + 0.5 * a[j * n + i] * y[j];
#pragma endscop
}
RUN(outer_add, 300, outer_add(D(0), D(1), D(1) + n, D(2), D(2) + n, D(3), D(4), n))
