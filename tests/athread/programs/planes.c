/* Two and three planes of one array that take turns in a loop over time, by remainders and by hand. */
#include "../../c/kernels/harness.h"

#define TSTEPS_DEFAULT 5
#define N_DEFAULT 30
#define M_DEFAULT 20
#ifndef TSTEPS
#define TSTEPS TSTEPS_DEFAULT
#endif
#ifndef N
#define N N_DEFAULT
#endif
#ifndef M
#define M M_DEFAULT
#endif

static void planes(int tsteps, int n, int m, double u[restrict 2][n], double v[restrict 2][n][m],
                   double w[restrict 2][n], double x[restrict 2][n][m], double y[restrict 3][n][m])
{
#pragma scop
  for (int t = 0; t < tsteps; t++)
    for (int i = 1; i < n - 1; i++)
      u[(t + 1) % 2][i] = 0.25 * (u[t % 2][i - 1] + 2 * u[t % 2][i] + u[t % 2][i + 1]);
#pragma endscop
#pragma scop
  for (int t = 0; t < tsteps; t++)
    for (int i = 1; i < n - 1; i++)
      for (int j = 1; j < m - 1; j++)
        v[1 - t % 2][i][j] = 0.2 * (v[t % 2][i][j] + v[t % 2][i - 1][j] + v[t % 2][i + 1][j] + v[t % 2][i][j - 1] + v[t % 2][i][j + 1]);
#pragma endscop
#pragma scop
  for (int t = 0; t < tsteps; t++) {
    for (int i = 1; i < n - 1; i++)
      w[1][i] = 0.25 * (w[0][i - 1] + 2 * w[0][i] + w[0][i + 1]);
    for (int i = 1; i < n - 1; i++)
      w[0][i] = 0.25 * (w[1][i - 1] + 2 * w[1][i] + w[1][i + 1]);
  }
#pragma endscop
#pragma scop
  for (int t = 0; t < tsteps; t++) {
    for (int i = 1; i < n - 1; i++)
      for (int j = 1; j < m - 1; j++)
        x[1][i][j] = 0.2 * (x[0][i][j] + x[0][i - 1][j] + x[0][i + 1][j] + x[0][i][j - 1] + x[0][i][j + 1]);
    for (int i = 1; i < n - 1; i++)
      for (int j = 1; j < m - 1; j++)
        x[0][i][j] = 0.2 * (x[1][i][j] + x[1][i - 1][j] + x[1][i + 1][j] + x[1][i][j - 1] + x[1][i][j + 1]);
  }
#pragma endscop
#pragma scop
  for (int t = 1; t < tsteps; t++)
    for (int i = 1; i < n - 1; i++)
      for (int j = 1; j < m - 1; j++)
        y[(t + 1) % 3][i][j] = 2 * y[t % 3][i][j] - y[(t - 1) % 3][i][j] + 0.125 * (y[t % 3][i - 1][j] + y[t % 3][i][j + 1]);
#pragma endscop
}

static double *filled(size_t count)
{
  double *a = harness_alloc(count, sizeof(double));
  for (size_t k = 0; k < count; k++)
    a[k] = harness_unit(1, k);
  return a;
}

int main(int argc, char **argv)
{
  int tsteps = SIZE(TSTEPS), n = SIZE(N), m = SIZE(M);
  size_t rows = (size_t)n, all = (size_t)n * (size_t)m;
  harness_open(argc, argv);
  double *u = filled(2 * rows), *v = filled(2 * all), *w = filled(2 * rows), *x = filled(2 * all), *y = filled(3 * all);
  harness_start();
  planes(tsteps, n, m, (void *)u, (void *)v, (void *)w, (void *)x, (void *)y);
  harness_stop();
  OUTPUT("u", u, 2 * rows);
  OUTPUT("v", v, 2 * all);
  OUTPUT("w", w, 2 * rows);
  OUTPUT("x", x, 2 * all);
  OUTPUT("y", y, 3 * all);
  free(u), free(v), free(w), free(x), free(y);
  return harness_finish("planes");
}
