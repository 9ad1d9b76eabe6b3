/* Subscripts that are data: how far they go is found by reading them before the region, where the
   region reads them in any case. */
#include <stdio.h>

static void gather(int n, double *y, const double *x, const int *index)
{
#pragma scop
  for (int i = 0; i < n; i++)
    y[i] = x[index[i]] + 1;
#pragma endscop
}

static void product(int n, double *y, const double *val, const double *x, const int *row, const int *col)
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

static void padded(int n, int width, double *y, const double *val, const int *col, const double *x)
{
#pragma scop
  for (int i = 0; i < n; i++)
    for (int k = 0; k < width; k++)
      y[i] += val[i * width + k] * x[col[i * width + k]];
#pragma endscop
}

static void permute(int n, int m, double *out, const double *in, const int *p)
{
#pragma scop
  for (int i = 0; i < n; i++) {
    int from = p[i];
    for (int j = 0; j < m; j++)
      out[i * m + j] = in[from * m + j];
  }
#pragma endscop
}

/* Columns are read only if the matrix has some. */
static void products(int n, int m, double *c, const double *val, const int *row, const int *col, const double *b)
{
#pragma scop
  for (int i = 0; i < n; i++)
    for (int k = row[i]; k < row[i + 1]; k++)
      for (int j = 0; j < m; j++)
        c[i * m + j] += val[k] * b[col[k] * m + j];
#pragma endscop
}

/* The subscripts may be what is written. */
static void chase(int n, int *y, const int *x, const int *index)
{
#pragma scop
  for (int i = 0; i < n; i++)
    y[i] = x[index[i]] % 1000;
#pragma endscop
}

static double a[12000], b[12000], c[12000];
static int row[1001], col[12000], numbers[12000];

static void reset(void)
{
  for (int i = 0; i < 12000; i++) {
    a[i] = i % 17, b[i] = i % 13, c[i] = i % 11;
    col[i] = i * 7 % 1000, numbers[i] = i * 11 % 1000;
  }
  for (int i = 0; i <= 1000; i++)
    row[i] = 7 * i - (i % 3 == 1);
}

static void show(void)
{
  double s = 0;
  for (int i = 0; i < 12000; i++)
    s = s * 0.999 + a[i] + 3 * b[i] + 5 * c[i] + numbers[i] + 0.5 * col[i];
  printf("%a\n", s);
  reset();
}

int main(void)
{
  reset();
  gather(1000, a, b, col), show();
  gather(1000, a, a, col), show();
  gather(1000, a + 500, a, col), show();
  gather(1000, a + 1000, a, col), show();
  gather(0, a, a, NULL), show();
  product(1000, a, b, c, row, col), show();
  product(1000, a, b, a, row, col), show();
  product(1000, a, a, c, row, col), show();
  product(1000, a + 1000, b, a, row, col), show();
  product(0, a, b, c, NULL, NULL), show();
  row[500] = 0;
  product(1000, a, b, c, row, col), show();
  for (int i = 0; i <= 1000; i++)
    row[i] = 20000;
  product(1000, a, NULL, NULL, row, NULL), show();
  padded(1000, 7, a, b, col, c), show();
  padded(1000, 7, a, b, col, a), show();
  padded(1000, 7, a, a, col, c), show();
  padded(1000, 0, a, NULL, NULL, c), show();
  for (int i = 0; i < 100; i++)
    col[i] = 3 * i;
  permute(100, 31, a, b, col), show();
  for (int i = 0; i < 100; i++)
    col[i] = 99 - i;
  permute(100, 31, a, a, col), show();
  permute(100, 17, a + 5000, a, col), show();
  permute(0, 5, a, a, NULL), show();
  products(100, 3, a, b, row, col, c), show();
  products(100, 3, a, b, row, col, a), show();
  products(100, 0, a, NULL, row, NULL, b), show();
  chase(1000, numbers, col, col + 5000), show();
  chase(1000, numbers, numbers, numbers), show();
  chase(1000, col + 10, numbers, col), show();
  return 0;
}
