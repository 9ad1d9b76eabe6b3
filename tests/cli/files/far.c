/* Rows of 2 GiB and more: a transfer cannot say how far they are apart. Little of them is touched. */
#include <stdlib.h>

static void near(int n, int m, float A[restrict n][m])
{
#pragma scop
  for (int i = 0; i < n; i++)
    for (int j = 0; j < 64; j++)
      A[i][j] = 2.0f * A[i][j];
#pragma endscop
}

int main(void)
{
  int n = 2, m = 600000000;
  float (*A)[m] = malloc((size_t)n * sizeof *A);
  if (A == NULL)
    return 3;
  near(n, m, A);
  free(A);
  return 0;
}
