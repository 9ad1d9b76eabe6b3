/* Bodies with places and speeds as structures: copied whole, chosen, exchanged, set from lists,
   kept in local variables and arrays, given to functions and returned by them. */
#include "harness.h"

#ifdef LARGE
#define N_DEFAULT 1000000
#else
#define N_DEFAULT 100
#endif
#ifndef N
#define N N_DEFAULT
#endif

struct vector {
  double x, y, z;
};

typedef struct {
  struct vector at, speed;
  float mass;
  int kind[3];
} body;

static struct vector sum(struct vector a, struct vector b)
{
  struct vector c = {a.x + b.x, a.y + b.y, a.z + b.z};
  return c;
}

static struct vector scaled(struct vector a, double by) { return (struct vector){by * a.x, by * a.y, by * a.z}; }

static struct vector cross(struct vector a, struct vector b)
{
  struct vector c;
  c.x = a.y * b.z - a.z * b.y;
  c.y = a.z * b.x - a.x * b.z;
  c.z = a.x * b.y - a.y * b.x;
  return c;
}

static double dot(struct vector a, struct vector b) { return a.x * b.x + a.y * b.y + a.z * b.z; }

static body moved(body b, double by)
{
  b.at = sum(b.at, scaled(b.speed, by));
  b.kind[2] += b.kind[1];
  return b;
}

static void kernel_vectors(int n, body b[restrict n], body c[restrict n], struct vector v[restrict n])
{
#pragma scop
  for (int i = 0; i < n; i++)
    c[i] = b[i];
  for (int i = 0; i < n; i++) {
    struct vector at = b[i].at, force = {0.5, at.y}, both[2];
    at.x += 0.25 * b[i].speed.x;
    both[0] = at;
    both[1] = b[i].kind[0] > 1 ? b[i].speed : force;
    for (int k = 0; k < 2; k++)
      force.z += both[k].x * both[k].z;
    v[i] = force;
    b[i].at = at;
  }
  for (int i = 0; i + 1 < n; i += 2) {
    body t = c[i];
    c[i] = c[i + 1];
    c[i + 1] = t;
  }
  for (int i = 1; i < n; i++)
    if (b[i].mass > 0.5f)
      v[i - 1] = v[i];
#pragma endscop
}

static void kernel_functions(int n, body b[restrict n], struct vector v[restrict n])
{
#pragma scop
  for (int i = 0; i < n; i++) {
    struct vector a = cross(b[i].at, b[i].speed), c = sum(a, scaled(v[i], 0.25));
    a.x = dot(a, c);
    a.y += 2 * dot(a, cross(c, b[i].at)) + (a.x > 0 ? dot(c, c) : 1);
    v[i] = (struct vector){v[i].y, v[i].x, a.y};
    if (dot(v[i], v[i]) > 1)
      v[i] = scaled(v[i], 0.5);
  }
#pragma endscop
}

static void kernel_moved(int n, body b[restrict n])
{
#pragma scop
  for (int i = 0; i < n; i++)
    b[i] = moved(b[i], 0.125);
#pragma endscop
}

int main(int argc, char **argv)
{
  int n = SIZE(N);
  body *b = harness_alloc((size_t)n, sizeof(body));
  body *c = harness_alloc((size_t)n, sizeof(body));
  struct vector *v = harness_alloc((size_t)n, sizeof(struct vector));
  double *all = harness_alloc((size_t)n * 23, sizeof(double));
  harness_open(argc, argv);
  for (int rep = 0; rep < REPS; rep++) {
    for (size_t i = 0; i < (size_t)n; i++) {
      struct vector at = {harness_unit(1, i), harness_unit(2, i), harness_unit(3, i)};
      struct vector speed = {harness_unit(4, i), harness_unit(5, i), harness_unit(6, i)};
      b[i].at = at;
      b[i].speed = speed;
      b[i].mass = (float)harness_unit(7, i);
      for (int k = 0; k < 3; k++)
        b[i].kind[k] = (int)(i % (5 + k));
    }
    harness_start();
    kernel_vectors(n, b, c, v);
    kernel_functions(n, b, v);
    kernel_moved(n, b);
    harness_stop();
  }
  for (size_t i = 0; i < (size_t)n; i++) {
    const body *of[2] = {&b[i], &c[i]};
    double *to = all + 23 * i;
    for (int k = 0; k < 2; k++) {
      *to++ = of[k]->at.x, *to++ = of[k]->at.y, *to++ = of[k]->at.z;
      *to++ = of[k]->speed.x, *to++ = of[k]->speed.y, *to++ = of[k]->speed.z;
      *to++ = of[k]->mass;
      *to++ = of[k]->kind[0], *to++ = of[k]->kind[1], *to++ = of[k]->kind[2];
    }
    *to++ = v[i].x, *to++ = v[i].y, *to++ = v[i].z;
  }
  OUTPUT("all", (double *)all, (size_t)n * 23);
  free(b);
  free(c);
  free(v);
  free(all);
  return harness_finish("vectors");
}
