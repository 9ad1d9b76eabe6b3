/* An end that wraps at 2^32, a step beyond it, and a subscript in between. */
#include <stdio.h>

static void ends(unsigned n, unsigned m, int x[restrict 64])
{
#pragma scop
  for (unsigned i = n; i < n + 10; i++)
    x[i] += 1;
  for (unsigned i = 0; i < m; i += 3)
    x[i + 20u] += 2;
#pragma endscop
}

int main(void)
{
  static int x[64];
  ends(4, 30, x);
  ends(4294967290u, 7, x);
  ends(0, 0, x);
  for (int i = 0; i < 64; i++)
    printf("%d ", x[i]);
  return 0;
}
