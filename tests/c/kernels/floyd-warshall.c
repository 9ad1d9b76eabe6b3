/* Shortest paths between all pairs of vertices. */
#include "harness.h"

#ifdef LARGE
#define N_DEFAULT 2800
#else
#define N_DEFAULT 60
#endif
#ifndef N
#define N N_DEFAULT
#endif

static void kernel_floyd_warshall(int n, int path[restrict n][n])
{
#pragma scop
  for (int k = 0; k < n; k++)
    for (int i = 0; i < n; i++)
      for (int j = 0; j < n; j++)
        path[i][j] = path[i][j] < path[i][k] + path[k][j] ? path[i][j] : path[i][k] + path[k][j];
#pragma endscop
}

int main(int argc, char **argv)
{
  int n = SIZE(N);
  int (*path)[n] = harness_alloc((size_t)n * (size_t)n, sizeof(int));
  harness_open(argc, argv);
  for (int rep = 0; rep < REPS; rep++) {
    for (size_t k = 0; k < (size_t)n * (size_t)n; k++)
      ((int *)path)[k] = harness_below(1, k, 5) == 0 ? 1 + harness_below(2, k, 50) : 999;
    harness_start();
    kernel_floyd_warshall(n, path);
    harness_stop();
  }
  OUTPUT("path", (int *)path, (size_t)n * (size_t)n);
  free(path);
  return harness_finish("floyd-warshall");
}
