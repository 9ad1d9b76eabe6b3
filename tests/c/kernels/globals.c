/* Arrays of the file with constant extents; sizes are macros. */
#include "harness.h"

#ifndef DATA_TYPE
#define DATA_TYPE double
#endif
#ifdef LARGE
#define N_DEFAULT 1024
#define M_DEFAULT 1000
#else
#define N_DEFAULT 32
#define M_DEFAULT 28
#endif
#ifndef N
#define N N_DEFAULT
#endif
#ifndef M
#define M M_DEFAULT
#endif

static DATA_TYPE A[N][M];
static DATA_TYPE B[M][N];
static DATA_TYPE C[N][N];

static void kernel_globals(void)
{
  int i, j, k;
#pragma scop
  for (i = 0; i < N; i++)
    for (j = 0; j < N; j++) {
      C[i][j] = 0;
      for (k = 0; k < M; k++)
        C[i][j] += A[i][k] * B[k][j];
    }
  for (i = 0; i < N; i++)
    for (j = 0; j < M; j++)
      A[i][j] = A[i][j] + C[i][0];
#pragma endscop
}

int main(int argc, char **argv)
{
  harness_open(argc, argv);
  for (int rep = 0; rep < REPS; rep++) {
    for (size_t k = 0; k < (size_t)N * (size_t)M; k++)
      ((DATA_TYPE *)A)[k] = (DATA_TYPE)harness_unit(1, k);
    for (size_t k = 0; k < (size_t)M * (size_t)N; k++)
      ((DATA_TYPE *)B)[k] = (DATA_TYPE)harness_unit(2, k);
    memset(C, 0, (size_t)N * (size_t)N * sizeof(DATA_TYPE));
    harness_start();
    kernel_globals();
    harness_stop();
  }
  OUTPUT("A", (DATA_TYPE *)A, (size_t)N * (size_t)M);
  OUTPUT("C", (DATA_TYPE *)C, (size_t)N * (size_t)N);
  return harness_finish("globals");
}
