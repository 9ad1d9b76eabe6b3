#include <stdio.h>
void f(int n, double A[restrict n][n], double *restrict x) {
  for (int t = 0; t < 10; t++) {
    for (int i = 0; i < n; i++)
      for (int j = 0; j < n; j++)
        A[i][j] += x[j];
    printf("%d\n", t);
  }
}
