/* A grid with periodic borders and a coarser one: smoothing, restriction of what is left, and prolongation of a correction. */
#include "harness.h"

#ifdef LARGE
#define N_DEFAULT 1000
#define T_DEFAULT 4
#else
#define N_DEFAULT 17
#define T_DEFAULT 3
#endif
#ifndef N
#define N N_DEFAULT
#endif
#ifndef T
#define T T_DEFAULT
#endif
#ifndef DATA_TYPE
#define DATA_TYPE double
#endif

static void kernel_multigrid(int t, int n, DATA_TYPE u[restrict 2 * n + 1][2 * n + 1], DATA_TYPE v[restrict 2 * n + 1][2 * n + 1],
                             DATA_TYPE coarse[restrict n + 1][n + 1])
{
  int m = 2 * n + 1;
#pragma scop
  for (int s = 0; s < t; s++) {
    for (int i = 0; i < m; i++)
      for (int j = 0; j < m; j++)
        v[i][j] = u[i][j] - (DATA_TYPE)0.25 * (u[(i + m - 1) % m][j] + u[(i + 1) % m][j] + u[i][(j + m - 1) % m] + u[i][(j + 1) % m]);
    for (int i = 1; i < n; i++)
      for (int j = 1; j < n; j++)
        coarse[i][j] = (DATA_TYPE)0.5 * v[2 * i][2 * j] +
                       (DATA_TYPE)0.125 * (v[2 * i - 1][2 * j] + v[2 * i + 1][2 * j] + v[2 * i][2 * j - 1] + v[2 * i][2 * j + 1]);
    for (int i = 1; i < n; i++)
      for (int j = 1; j < n; j++)
        u[2 * i][2 * j] -= coarse[i][j];
  }
#pragma endscop
}

int main(int argc, char **argv)
{
  int t = SIZE(T), n = SIZE(N);
  size_t width = 2 * (size_t)n + 1, half = (size_t)n + 1;
  DATA_TYPE (*u)[width] = harness_alloc(width * width, sizeof(DATA_TYPE));
  DATA_TYPE (*v)[width] = harness_alloc(width * width, sizeof(DATA_TYPE));
  DATA_TYPE (*coarse)[half] = harness_alloc(half * half, sizeof(DATA_TYPE));
  harness_open(argc, argv);
  for (int rep = 0; rep < REPS; rep++) {
    for (size_t k = 0; k < width * width; k++) {
      ((DATA_TYPE *)u)[k] = (DATA_TYPE)harness_unit(1, k);
      ((DATA_TYPE *)v)[k] = 0;
    }
    for (size_t k = 0; k < half * half; k++)
      ((DATA_TYPE *)coarse)[k] = 0;
    harness_start();
    kernel_multigrid(t, n, u, v, coarse);
    harness_stop();
  }
  OUTPUT("u", (DATA_TYPE *)u, width * width);
  OUTPUT("v", (DATA_TYPE *)v, width * width);
  OUTPUT("coarse", (DATA_TYPE *)coarse, half * half);
  free(u);
  free(v);
  free(coarse);
  return harness_finish("multigrid");
}
