/* Maxwell in two dimensions by finite differences in time. */
#include "harness.h"

#ifndef DATA_TYPE
#define DATA_TYPE double
#endif
#ifdef LARGE
#define TMAX_DEFAULT 500
#define NX_DEFAULT 1000
#define NY_DEFAULT 1200
#else
#define TMAX_DEFAULT 20
#define NX_DEFAULT 20
#define NY_DEFAULT 30
#endif
#ifndef TMAX
#define TMAX TMAX_DEFAULT
#endif
#ifndef NX
#define NX NX_DEFAULT
#endif
#ifndef NY
#define NY NY_DEFAULT
#endif

static void kernel_fdtd_2d(int tmax, int nx, int ny, DATA_TYPE ex[restrict nx][ny],
                           DATA_TYPE ey[restrict nx][ny], DATA_TYPE hz[restrict nx][ny],
                           DATA_TYPE fict[restrict tmax])
{
  DATA_TYPE half = 0.5, weight = 0.7;
  if (nx < 1)
    return;
#pragma scop
  for (int t = 0; t < tmax; t++) {
    for (int j = 0; j < ny; j++)
      ey[0][j] = fict[t];
    for (int i = 1; i < nx; i++)
      for (int j = 0; j < ny; j++)
        ey[i][j] = ey[i][j] - half * (hz[i][j] - hz[i - 1][j]);
    for (int i = 0; i < nx; i++)
      for (int j = 1; j < ny; j++)
        ex[i][j] = ex[i][j] - half * (hz[i][j] - hz[i][j - 1]);
    for (int i = 0; i < nx - 1; i++)
      for (int j = 0; j < ny - 1; j++)
        hz[i][j] = hz[i][j] - weight * (ex[i][j + 1] - ex[i][j] + ey[i + 1][j] - ey[i][j]);
  }
#pragma endscop
}

int main(int argc, char **argv)
{
  int tmax = SIZE(TMAX);
  int nx = SIZE(NX);
  int ny = SIZE(NY);
  DATA_TYPE (*ex)[ny] = harness_alloc((size_t)nx * (size_t)ny, sizeof(DATA_TYPE));
  DATA_TYPE (*ey)[ny] = harness_alloc((size_t)nx * (size_t)ny, sizeof(DATA_TYPE));
  DATA_TYPE (*hz)[ny] = harness_alloc((size_t)nx * (size_t)ny, sizeof(DATA_TYPE));
  DATA_TYPE *fict = harness_alloc((size_t)tmax, sizeof(DATA_TYPE));
  harness_open(argc, argv);
  for (int rep = 0; rep < REPS; rep++) {
    for (size_t k = 0; k < (size_t)nx * (size_t)ny; k++)
      ((DATA_TYPE *)ex)[k] = (DATA_TYPE)harness_unit(1, k);
    for (size_t k = 0; k < (size_t)nx * (size_t)ny; k++)
      ((DATA_TYPE *)ey)[k] = (DATA_TYPE)harness_unit(2, k);
    for (size_t k = 0; k < (size_t)nx * (size_t)ny; k++)
      ((DATA_TYPE *)hz)[k] = (DATA_TYPE)harness_unit(3, k);
    for (size_t k = 0; k < (size_t)tmax; k++)
      fict[k] = (DATA_TYPE)harness_unit(4, k);
    harness_start();
    kernel_fdtd_2d(tmax, nx, ny, ex, ey, hz, fict);
    harness_stop();
  }
  OUTPUT("ex", (DATA_TYPE *)ex, (size_t)nx * (size_t)ny);
  OUTPUT("ey", (DATA_TYPE *)ey, (size_t)nx * (size_t)ny);
  OUTPUT("hz", (DATA_TYPE *)hz, (size_t)nx * (size_t)ny);
  free(ex);
  free(ey);
  free(hz);
  free(fict);
  return harness_finish("fdtd-2d");
}
