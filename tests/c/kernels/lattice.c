/* A lattice Boltzmann step in two dimensions (nine velocities, relaxation towards equilibrium): a body of many local variables, and a copy back, for some steps. */
#include "harness.h"

#ifdef LARGE
#define N_DEFAULT 500
#define STEPS 10
#else
#define N_DEFAULT 19
#define STEPS 3
#endif
#ifndef N
#define N N_DEFAULT
#endif

static void kernel_lattice(int ny, int nx, int steps, double omega, double f[restrict 9][ny + 2][nx + 2],
                           double g[restrict 9][ny + 2][nx + 2])
{
#pragma scop
  for (int t = 0; t < steps; t++) {
    for (int y = 1; y <= ny; y++)
      for (int x = 1; x <= nx; x++) {
        /* what arrives: at rest, from the four sides, from the four corners */
        double rest = f[0][y][x];
        double west = f[1][y][x - 1], south = f[2][y - 1][x], east = f[3][y][x + 1], north = f[4][y + 1][x];
        double sw = f[5][y - 1][x - 1], se = f[6][y - 1][x + 1], ne = f[7][y + 1][x + 1], nw = f[8][y + 1][x - 1];
        double mass = rest + west + south + east + north + sw + se + ne + nw;
        double u = (west - east + sw - se - ne + nw) / mass;
        double v = (south - north + sw + se - ne - nw) / mass;
        double still = 1.0 - 1.5 * (u * u + v * v);
        double plus = u + v, minus = u - v;
        g[0][y][x] = rest + omega * (mass * 4.0 / 9.0 * still - rest);
        g[1][y][x] = west + omega * (mass / 9.0 * (still + 3.0 * u + 4.5 * u * u) - west);
        g[2][y][x] = south + omega * (mass / 9.0 * (still + 3.0 * v + 4.5 * v * v) - south);
        g[3][y][x] = east + omega * (mass / 9.0 * (still - 3.0 * u + 4.5 * u * u) - east);
        g[4][y][x] = north + omega * (mass / 9.0 * (still - 3.0 * v + 4.5 * v * v) - north);
        g[5][y][x] = sw + omega * (mass / 36.0 * (still + 3.0 * plus + 4.5 * plus * plus) - sw);
        g[6][y][x] = se + omega * (mass / 36.0 * (still - 3.0 * minus + 4.5 * minus * minus) - se);
        g[7][y][x] = ne + omega * (mass / 36.0 * (still - 3.0 * plus + 4.5 * plus * plus) - ne);
        g[8][y][x] = nw + omega * (mass / 36.0 * (still + 3.0 * minus + 4.5 * minus * minus) - nw);
      }
    for (int k = 0; k < 9; k++)
      for (int y = 1; y <= ny; y++)
        for (int x = 1; x <= nx; x++)
          f[k][y][x] = g[k][y][x];
  }
#pragma endscop
}

int main(int argc, char **argv)
{
  int n = SIZE(N), m = n + n / 7;
  size_t all = (size_t)9 * (n + 2) * (m + 2);
  double (*f)[n + 2][m + 2] = harness_alloc(all, sizeof(double));
  double (*g)[n + 2][m + 2] = harness_alloc(all, sizeof(double));
  harness_open(argc, argv);
  for (int rep = 0; rep < REPS; rep++) {
    for (size_t k = 0; k < all; k++) {
      ((double *)f)[k] = 1.0 + 0.1 * harness_unit(1, k);
      ((double *)g)[k] = 0.0;
    }
    harness_start();
    kernel_lattice(n, m, STEPS, 0.8, f, g);
    harness_stop();
  }
  OUTPUT("f", (double *)f, all);
  free(f);
  free(g);
  return harness_finish("lattice");
}
