/* Fills of memory that are no loops, and `while` loops that do not count. */
#include <string.h>
void f(int n, int m, double *restrict x, float A[restrict n][m], int *restrict k, const int *restrict p)
{
  int i = 0;
#pragma scop
  memset(x, 1, n * sizeof(double));
  memset(x, 0, n);
  memset(A, 0, n * sizeof(float));
  memcpy(x, A[0], n * sizeof(float));
  memset(p[0] > 1 ? x : x + 1, 0, 8);
  while (k[i] > 0)
    i++;
  while (i < n) {
    if (k[i] > 2)
      continue;
    i++;
  }
  while (i < n) {
    int d = 2;
    i += d;
  }
#pragma endscop
}
