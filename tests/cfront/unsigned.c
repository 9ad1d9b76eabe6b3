// Unsigned sizes: differences are taken not to wrap, with a warning.
#include <stddef.h>
void stencil(size_t n, unsigned m, double x[restrict n], double y[restrict n])
{
#pragma scop
  for (size_t i = 1; i < n - 1; i++)
    y[i] = x[i - 1] + x[i + 1] + (double)i;
  for (unsigned j = 0; j + 1 < m; j++)
    x[j] = j;
#pragma endscop
}
