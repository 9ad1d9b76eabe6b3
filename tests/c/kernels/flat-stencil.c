/* A seven-point stencil over plain pointers, rows and planes by products of sizes. */
#include "harness.h"

#ifndef DATA_TYPE
#define DATA_TYPE double
#endif
#ifdef LARGE
#define NX_DEFAULT 200
#define NY_DEFAULT 200
#define NZ_DEFAULT 200
#else
#define NX_DEFAULT 10
#define NY_DEFAULT 12
#define NZ_DEFAULT 14
#endif
#ifndef NX
#define NX NX_DEFAULT
#endif
#ifndef NY
#define NY NY_DEFAULT
#endif
#ifndef NZ
#define NZ NZ_DEFAULT
#endif

static void kernel_flat_stencil(int nx, int ny, int nz, DATA_TYPE *restrict A, DATA_TYPE *restrict B)
{
#pragma scop
  for (int i = 1; i < nx - 1; i++)
    for (int j = 1; j < ny - 1; j++)
      for (int k = 1; k < nz - 1; k++)
        B[(i * ny + j) * nz + k] = A[(i * ny + j) * nz + k]
          + 0.125 * (A[((i - 1) * ny + j) * nz + k] + A[((i + 1) * ny + j) * nz + k]
                     + A[(i * ny + j - 1) * nz + k] + A[(i * ny + j + 1) * nz + k]
                     + A[(i * ny + j) * nz + k - 1] + A[(i * ny + j) * nz + k + 1]);
#pragma endscop
}

int main(int argc, char **argv)
{
  int nx = SIZE(NX);
  int ny = SIZE(NY);
  int nz = SIZE(NZ);
  DATA_TYPE *A = harness_alloc((size_t)nx * (size_t)ny * (size_t)nz, sizeof(DATA_TYPE));
  DATA_TYPE *B = harness_alloc((size_t)nx * (size_t)ny * (size_t)nz, sizeof(DATA_TYPE));
  harness_open(argc, argv);
  for (int rep = 0; rep < REPS; rep++) {
    for (size_t k = 0; k < (size_t)nx * (size_t)ny * (size_t)nz; k++)
      A[k] = (DATA_TYPE)harness_unit(1, k);
    memset(B, 0, (size_t)nx * (size_t)ny * (size_t)nz * sizeof(DATA_TYPE));
    harness_start();
    kernel_flat_stencil(nx, ny, nz, A, B);
    harness_stop();
  }
  OUTPUT("B", (DATA_TYPE *)B, (size_t)nx * (size_t)ny * (size_t)nz);
  free(A);
  free(B);
  return harness_finish("flat-stencil");
}
