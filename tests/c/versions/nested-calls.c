/* Calls of functions with loops inside of expressions, and of functions that call these. */
#include <math.h>
#include <stdio.h>

static double dot(int n, const double *x, const double *y)
{
  double s = 0;
  for (int i = 0; i < n; i++)
    s += x[i] * y[i];
  return s;
}

static double norm(int n, const double *x) { return sqrt(dot(n, x, x)); }

static double cosine(int n, const double *x, const double *y)
{
  return dot(n, x, y) / (norm(n, x) * norm(n, y));
}

static double power(double x, int n)
{
  double product = 1;
  for (int i = 0; i < n; i++)
    product *= x;
  return product;
}

void apply(int m, int n, double a[restrict m][n], double x[restrict n], double y[restrict m], double out[restrict 3])
{
  double alpha = 1.5, z;
#pragma scop
  for (int i = 0; i < m; i++)
    y[i] += alpha * dot(n, a[i], x) + (power(a[i][0] / 8, 3) > 2 ? 1 : 0.5);
  for (int i = 0; i < m; i++)
    if (y[i] > 100)
      y[i] = y[i] - power(alpha, 5);
  out[0] = cosine(n, x, a[1]);
  z = 2 * norm(m, y) + 1;
  out[1] = power(power(z / 100, 2), 2) - z;
#pragma endscop
  out[2] = z;
}

static double a[37][53], x[53], y[37], out[3];

int main(void)
{
  for (int i = 0; i < 37; i++) {
    y[i] = i % 5 - 2;
    for (int j = 0; j < 53; j++) {
      x[j] = j % 7;
      a[i][j] = (i * j + i) % 11;
    }
  }
  apply(37, 53, a, x, y, out);
  printf("%a %a %a %a %a\n", out[0], out[1], out[2], y[1], y[31]);
  return 0;
}
