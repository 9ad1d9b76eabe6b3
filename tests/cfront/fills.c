/* `memset` and `memcpy` of counted elements, and `while` loops that count. */
#include <string.h>
void fills(int n, int m, double *restrict x, const double *restrict y, float A[restrict n][m], unsigned char *restrict b)
{
  int i = 0;
  float B[10][20];
#pragma scop
  memset(x, 0, n * sizeof(double));
  memcpy(x + n, y, sizeof(*y) * (size_t)n);
  memset(A, 0, sizeof(float) * n * m);
  memset(A[1], 0, m * sizeof(float));
  memset(b, 7, 2 * n);
  memset(B, 0, sizeof B);
  A[0][0] = B[3][4];
  while (i < n) {
    x[i] += 2;
    i++;
  }
  while (i-- > 0)
    x[i] += 3;
#pragma endscop
}
main() {
  double a[3], b[3];
#pragma scop
  for (int i = 0; i < 3; i++)
    a[i] = b[i];
#pragma endscop
  return a[0];
}
void rows(int n, int m, double *restrict x)
{
#pragma scop
  memset(x, 0, n * m * sizeof(double));
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++)
      x[i * m + j] += i;
#pragma endscop
}
