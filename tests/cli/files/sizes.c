#include <stdio.h>

#define LENGTH(a) (sizeof(a) / sizeof((a)[0]))
#ifndef N
#define N 40
#endif

static double a[N], b[N][N];

int main(void)
{
#pragma scop
  for (int i = 0; i < LENGTH(b); i++)
    for (int j = 0; j < LENGTH(*b); j++)
      b[i][j] = i + 2 * j;
  for (int i = 0; i < LENGTH(a); i++)
    for (int j = 0; j < LENGTH(*b); j++)
      a[i] += b[i][j];
#pragma endscop
  printf("%g %g\n", a[1], a[N - 1]);
}
