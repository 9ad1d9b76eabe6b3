/* Structures: arrays of them, one within another, one behind a pointer, one that says how large arrays are. */
#include "harness.h"
#include <math.h>

#ifdef LARGE
#define N_DEFAULT 3000
#else
#define N_DEFAULT 41
#endif
#ifndef N
#define N N_DEFAULT
#endif

typedef struct {
  double x, y, z;
} vector;

struct particle {
  vector at, v;
  double mass;
  double force[3];
  int kind;
};

typedef struct box box;
struct box {
  int cells;
  double width, energy;
  double *restrict density;
};

static void kernel_particles(int n, struct particle p[restrict n], box *restrict b)
{
#pragma scop
  for (int i = 0; i < n; i++) {
    double fx = 0, fy = 0, fz = 0;
    for (int j = 0; j < n; j++) {
      double dx = p[j].at.x - p[i].at.x, dy = p[j].at.y - p[i].at.y, dz = p[j].at.z - p[i].at.z;
      double r2 = dx * dx + dy * dy + dz * dz + 0.01;
      double w = p[j].mass / (r2 * sqrt(r2));
      fx += w * dx;
      fy += w * dy;
      fz += w * dz;
    }
    p[i].force[0] = fx;
    p[i].force[1] = fy;
    p[i].force[2] = fz;
  }
  for (int i = 0; i < n; i++) {
    p[i].v.x += 0.1 * p[i].force[0];
    p[i].v.y += 0.1 * p[i].force[1];
    p[i].v.z += 0.1 * p[i].force[2];
    p[i].at.x += 0.1 * p[i].v.x;
    p[i].kind = p[i].at.x > b->width ? 1 : 0;
  }
  b->energy = 0;
  for (int i = 0; i < n; i++)
    b->energy += p[i].mass * (p[i].v.x * p[i].v.x + p[i].v.y * p[i].v.y + p[i].v.z * p[i].v.z);
  for (int c = 0; c < b->cells; c++)
    b->density[c] = b->energy / b->width + c;
#pragma endscop
}

int main(int argc, char **argv)
{
  int n = SIZE(N);
  struct particle *p = harness_alloc((size_t)n, sizeof *p);
  double *density = harness_alloc((size_t)n, sizeof *density);
  box b = {n, 0.5, 0, density};
  harness_open(argc, argv);
  for (int rep = 0; rep < REPS; rep++) {
    for (int i = 0; i < n; i++) {
      size_t k = 8 * (size_t)i;
      p[i].at = (vector){harness_unit(1, k), harness_unit(1, k + 1), harness_unit(1, k + 2)};
      p[i].v = (vector){harness_unit(1, k + 3), harness_unit(1, k + 4), harness_unit(1, k + 5)};
      p[i].mass = harness_unit(1, k + 6);
    }
    harness_start();
    kernel_particles(n, p, &b);
    harness_stop();
  }
  for (int i = 0; i < n; i++) {
    OUTPUT("force", p[i].force, 3);
    OUTPUT("v", &p[i].v.x, 3);
    OUTPUT("kind", &p[i].kind, 1);
  }
  OUTPUT("density", density, n);
  OUTPUT("energy", &b.energy, 1);
  free(p);
  free(density);
  return harness_finish("particles");
}
