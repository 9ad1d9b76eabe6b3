/* Scalars with names that the text for the cores has itself. */
#include <stdio.h>
#include <stdlib.h>

void scale(int n, double v0, double sum0, double part, double b[restrict n])
{
#pragma scop
  for (int i = 0; i < n; i++)
    b[i] = b[i] * v0 + sum0 * part;
#pragma endscop
}

int main(void)
{
  double *b = malloc(300 * sizeof *b);
  for (int k = 0; k < 300; k++)
    b[k] = k;
  scale(300, 1.5, 2.0, 0.25, b);
  printf("%g %g\n", b[0], b[299]);
  free(b);
  return 0;
}
