#include "heat.h"

void heat(int n, int steps, double *grid, double *next)
{
#pragma scop
  for (int t = 0; t < steps; t++) {
    for (int i = 1; i < n - 1; i++)
      for (int j = 1; j < n - 1; j++)
        next[i * n + j] = 0.2 * (grid[i * n + j] + grid[(i - 1) * n + j] + grid[(i + 1) * n + j]
                                 + grid[i * n + j - 1] + grid[i * n + j + 1]);
    for (int i = 1; i < n - 1; i++)
      for (int j = 1; j < n - 1; j++)
        grid[i * n + j] = next[i * n + j];
  }
#pragma endscop
}
