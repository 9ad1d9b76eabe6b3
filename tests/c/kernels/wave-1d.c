/* A wave equation over three time levels, kept modulo 3. */
#include "harness.h"

#ifndef DATA_TYPE
#define DATA_TYPE double
#endif
#ifdef LARGE
#define TSTEPS_DEFAULT 500
#define N_DEFAULT 4000
#else
#define TSTEPS_DEFAULT 20
#define N_DEFAULT 40
#endif
#ifndef TSTEPS
#define TSTEPS TSTEPS_DEFAULT
#endif
#ifndef N
#define N N_DEFAULT
#endif

static void kernel_wave_1d(int tsteps, int n, DATA_TYPE u[restrict 3][n])
{
  DATA_TYPE c = 0.25;
#pragma scop
  for (int t = 0; t < tsteps; t++)
    for (int i = 1; i < n - 1; i++)
      u[(t + 2) % 3][i] = 2 * u[(t + 1) % 3][i] - u[t % 3][i]
                          + c * (u[(t + 1) % 3][i - 1] - 2 * u[(t + 1) % 3][i] + u[(t + 1) % 3][i + 1]);
#pragma endscop
}

int main(int argc, char **argv)
{
  int tsteps = SIZE(TSTEPS);
  int n = SIZE(N);
  DATA_TYPE (*u)[n] = harness_alloc((size_t)3 * (size_t)n, sizeof(DATA_TYPE));
  harness_open(argc, argv);
  for (int rep = 0; rep < REPS; rep++) {
    for (size_t k = 0; k < (size_t)3 * (size_t)n; k++)
      ((DATA_TYPE *)u)[k] = (DATA_TYPE)harness_unit(1, k);
    harness_start();
    kernel_wave_1d(tsteps, n, u);
    harness_stop();
  }
  OUTPUT("u", (DATA_TYPE *)u, (size_t)3 * (size_t)n);
  free(u);
  return harness_finish("wave-1d");
}
