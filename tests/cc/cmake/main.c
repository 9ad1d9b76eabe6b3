#include <stdio.h>
#include <stdlib.h>
#include "heat.h"

int main(void)
{
  int n = 150;
  double *grid = calloc(n * n, sizeof *grid), *next = calloc(n * n, sizeof *next);
  for (int i = 0; i < n * n; i++)
    grid[i] = i % 17;
  heat(n, 20, grid, next);
  double sum = 0.0;
  for (int i = 0; i < n * n; i++)
    sum += grid[i] * (i % 5);
  printf("%.17g\n", sum);
  free(grid);
  free(next);
  return 0;
}
