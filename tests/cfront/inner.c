/* Regions that cannot be taken as a whole: the loops in them that can be. */
#include <stdio.h>
int search(int n, int m, double A[restrict n][m], double *restrict x)
{
  int i, j, found = 0;
#pragma scop
  for (i = 0; i < n; i++) {
    for (j = 0; j < m; j++)
      A[i][j] += x[j];
    printf("%g\n", A[i][0]);
    if (A[i][0] > 3)
      break;
  }
  for (int s = 1; s < n; s *= 2) {
    for (i = 0; i < n - s; i++)
      x[i] += x[i + s];
  }
#pragma endscop
  return found + i;
}
void plain(int n, double *restrict x)
{
#pragma scop
  for (int i = 0; i < n; i++)
    x[i] = 1;
#pragma endscop
}
