/* Rows whose length is a product that wraps around at 2^32. */
#include <stdio.h>

static void rows(unsigned k, unsigned n, unsigned m, int (*restrict x)[n * m])
{
#pragma scop
  for (unsigned i = 0; i < k; i++)
    for (unsigned j = 0; j < 4; j++)
      x[i][j] += 1;
#pragma endscop
}

int main(void)
{
  static int x[1000];
  rows(4, 3, 5, (void *)x);
  /* Rows of 8: 2^32 + 8 without the end of 32 bits. */
  rows(4, 2147483652u, 2, (void *)x);
  for (int i = 0; i < 100; i++)
    printf("%d ", x[i]);
  return 0;
}
