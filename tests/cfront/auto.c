/* Without pragmas: the outermost nests that can be taken. */
#include <stdio.h>
#include <stdlib.h>
double f(int n, double A[restrict n][n], double *restrict x)
{
  double s = 0;
  for (int t = 0; t < 10; t++) {
    for (int i = 0; i < n; i++)
      for (int j = 0; j < n; j++)
        A[i][j] += x[j];
    printf("%d\n", t);
  }
  for (int i = 0; i < n; i++) x[i] = 1; x[0] = 2;
  if (n > 3)
    for (int i = 0; i < n; i++)
      x[i] = 1;
  if (n > 5) {
    for (int i = 0; i < n; i++) {
      int k = i + 1;
      if (k < n)
        x[k] = x[i] * 0.5;
    }
  }
#pragma omp parallel for
  for (int i = 0; i < n; i++)
    x[i] += 1;
  for (int i = 0; i < n; i++)
    s += x[i];
  while (s > 1) {
    s /= 2;
    for (int i = 0; i < n; i++)
      x[i] *= s;
  }
  return s;
}
/* `while` and `do` loops that count; what ends by data is left alone, and so is the end of a `do`. */
int g(int n, int m, double *restrict x, const double *restrict y)
{
  int i = 0, k = 0;
  while (i < n) {
    x[i] = 2 * y[i];
    i++;
  }
  do {
    x[k] += y[k];
    k += 1;
  } while (k < n);
  do {
    printf("%d\n", m);
    m--;
  } while (m > 0);
  while (x[0] > 1)
    x[0] /= 2;
  return i + k;
}
