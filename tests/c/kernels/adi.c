/* A heat equation by alternating directions: tridiagonal systems along columns, then along rows. */
#include "harness.h"

#ifndef DATA_TYPE
#define DATA_TYPE double
#endif
#ifdef LARGE
#define TSTEPS_DEFAULT 500
#define N_DEFAULT 1000
#else
#define TSTEPS_DEFAULT 20
#define N_DEFAULT 20
#endif
#ifndef TSTEPS
#define TSTEPS TSTEPS_DEFAULT
#endif
#ifndef N
#define N N_DEFAULT
#endif

static void kernel_adi(int tsteps, int n, DATA_TYPE u[restrict n][n], DATA_TYPE v[restrict n][n],
                       DATA_TYPE p[restrict n][n], DATA_TYPE q[restrict n][n])
{
  DATA_TYPE mul1 = 2 * (DATA_TYPE)n * n / (tsteps > 0 ? tsteps : 1), mul2 = mul1 / 2;
  DATA_TYPE a = -mul1 / 2, b = 1 + mul1, c = a;
  DATA_TYPE d = -mul2 / 2, e = 1 + mul2, f = d;
#pragma scop
  for (int t = 1; t <= tsteps; t++) {
    for (int i = 1; i < n - 1; i++) {
      v[0][i] = 1;
      p[i][0] = 0;
      q[i][0] = v[0][i];
      for (int j = 1; j < n - 1; j++) {
        p[i][j] = -c / (a * p[i][j - 1] + b);
        q[i][j] = (-d * u[j][i - 1] + (1 + 2 * d) * u[j][i] - f * u[j][i + 1] - a * q[i][j - 1]) / (a * p[i][j - 1] + b);
      }
      v[n - 1][i] = 1;
      for (int j = n - 2; j >= 1; j--)
        v[j][i] = p[i][j] * v[j + 1][i] + q[i][j];
    }
    for (int i = 1; i < n - 1; i++) {
      u[i][0] = 1;
      p[i][0] = 0;
      q[i][0] = u[i][0];
      for (int j = 1; j < n - 1; j++) {
        p[i][j] = -f / (d * p[i][j - 1] + e);
        q[i][j] = (-a * v[i - 1][j] + (1 + 2 * a) * v[i][j] - c * v[i + 1][j] - d * q[i][j - 1]) / (d * p[i][j - 1] + e);
      }
      u[i][n - 1] = 1;
      for (int j = n - 2; j >= 1; j--)
        u[i][j] = p[i][j] * u[i][j + 1] + q[i][j];
    }
  }
#pragma endscop
}

int main(int argc, char **argv)
{
  int tsteps = SIZE(TSTEPS);
  int n = SIZE(N);
  DATA_TYPE (*u)[n] = harness_alloc((size_t)n * (size_t)n, sizeof(DATA_TYPE));
  DATA_TYPE (*v)[n] = harness_alloc((size_t)n * (size_t)n, sizeof(DATA_TYPE));
  DATA_TYPE (*p)[n] = harness_alloc((size_t)n * (size_t)n, sizeof(DATA_TYPE));
  DATA_TYPE (*q)[n] = harness_alloc((size_t)n * (size_t)n, sizeof(DATA_TYPE));
  harness_open(argc, argv);
  for (int rep = 0; rep < REPS; rep++) {
    for (size_t k = 0; k < (size_t)n * (size_t)n; k++)
      ((DATA_TYPE *)u)[k] = (DATA_TYPE)harness_unit(1, k);
    memset(v, 0, (size_t)n * (size_t)n * sizeof(DATA_TYPE));
    memset(p, 0, (size_t)n * (size_t)n * sizeof(DATA_TYPE));
    memset(q, 0, (size_t)n * (size_t)n * sizeof(DATA_TYPE));
    harness_start();
    kernel_adi(tsteps, n, u, v, p, q);
    harness_stop();
  }
  OUTPUT("u", (DATA_TYPE *)u, (size_t)n * (size_t)n);
  OUTPUT("v", (DATA_TYPE *)v, (size_t)n * (size_t)n);
  OUTPUT("p", (DATA_TYPE *)p, (size_t)n * (size_t)n);
  OUTPUT("q", (DATA_TYPE *)q, (size_t)n * (size_t)n);
  free(u);
  free(v);
  free(p);
  free(q);
  return harness_finish("adi");
}
