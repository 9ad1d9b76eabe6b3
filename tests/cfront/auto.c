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
