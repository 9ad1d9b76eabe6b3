/* Forces of all bodies on each: distances have names of their own in the inner loop. */
#include "harness.h"

#ifdef LARGE
#define N_DEFAULT 4000
#else
#define N_DEFAULT 70
#endif
#ifndef N
#define N N_DEFAULT
#endif

static void kernel_nbody(int n, const double x[restrict n][3], const double mass[restrict n], double force[restrict n][3])
{
#pragma scop
  for (int i = 0; i < n; i++) {
    double fx = 0, fy = 0, fz = 0;
    for (int j = 0; j < n; j++) {
      double dx = x[j][0] - x[i][0], dy = x[j][1] - x[i][1], dz = x[j][2] - x[i][2];
      double square = dx * dx + dy * dy + dz * dz + 1e-3;
      double pull = mass[j] / (square * square);
      fx += pull * dx;
      fy += pull * dy;
      fz += pull * dz;
    }
    force[i][0] = mass[i] * fx;
    force[i][1] = mass[i] * fy;
    force[i][2] = mass[i] * fz;
  }
#pragma endscop
}

int main(int argc, char **argv)
{
  int n = SIZE(N);
  double (*x)[3] = harness_alloc((size_t)n * 3, sizeof(double));
  double *mass = harness_alloc((size_t)n, sizeof(double));
  double (*force)[3] = harness_alloc((size_t)n * 3, sizeof(double));
  harness_open(argc, argv);
  for (int rep = 0; rep < REPS; rep++) {
    for (size_t k = 0; k < (size_t)n * 3; k++)
      ((double *)x)[k] = harness_unit(1, k) - 0.5;
    for (size_t k = 0; k < (size_t)n; k++)
      ((double *)mass)[k] = harness_unit(2, k);
    harness_start();
    kernel_nbody(n, x, mass, force);
    harness_stop();
  }
  OUTPUT("force", (double *)force, (size_t)n * 3);
  free(x);
  free(mass);
  free(force);
  return harness_finish("nbody");
}
