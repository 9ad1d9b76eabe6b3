/* Conversions that lose bits: in a bound, of a first value, and of a local that keeps its value. */
#include <stdio.h>

static void converted(long n, unsigned m, int x[restrict 64])
{
#pragma scop
  for (int i = 0; i < (int)n; i++)
    x[i] += 1;
  for (int i = n; i < 20; i++)
    x[i + 8] += 2;
  int first = m;
  for (int i = 0; i < 3; i++)
    x[i + first + 4] += 4;
#pragma endscop
}

int main(void)
{
  static int x[64];
  converted(10, 5, x);
  converted(4294967296 + 5, 7, x);
  converted(-3, 4294967292u, x);
  for (int i = 0; i < 64; i++)
    printf("%d ", x[i]);
  return 0;
}
