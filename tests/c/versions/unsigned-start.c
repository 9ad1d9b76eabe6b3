/* A first value that wraps below zero: then the loop does not run. */
#include <stdio.h>

static int A[200];

static void g(unsigned p, unsigned q)
{
#pragma scop
  for (unsigned i = 0; i < (p > q ? p : q); i++)
    A[i] += 3 * i;
#pragma endscop
#pragma scop
  for (unsigned i = p - q; i < p; i++)
    A[i] += 7;
#pragma endscop
}

int main(void)
{
  g(7, 100);
  g(100, 7);
  g(5, 5);
  for (int i = 0; i < 200; i++)
    printf("%d ", A[i]);
  return 0;
}
