/* A row and a column whose product wraps around at 2^32. */
#include <stdio.h>

static void rows(unsigned k, unsigned n, unsigned m, unsigned char *restrict x)
{
#pragma scop
  if (m <= n)
    for (unsigned i = 0; i < k; i += 2)
      for (unsigned j = 0; j < m; j++)
        x[i * n + j] += 1;
#pragma endscop
}

int main(void)
{
  static unsigned char x[1000];
  rows(4, 10, 7, x);
  rows(4, 2147483648u, 7, x);
  rows(1, 3000000000u, 5, x);
  for (int i = 0; i < 100; i++)
    printf("%d ", x[i]);
  return 0;
}
