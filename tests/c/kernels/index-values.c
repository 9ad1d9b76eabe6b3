/* Loop variables and sizes as data: conversions, integer division, products that wrap. */
#include "harness.h"

#ifndef DATA_TYPE
#define DATA_TYPE double
#endif
#ifdef LARGE
#define N_DEFAULT 2000
#define M_DEFAULT 2000
#else
#define N_DEFAULT 40
#define M_DEFAULT 30
#endif
#ifndef N
#define N N_DEFAULT
#endif
#ifndef M
#define M M_DEFAULT
#endif

static void kernel_index_values(int n, int m, DATA_TYPE A[restrict n][m], int I[restrict n][m])
{
#pragma scop
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++) {
      A[i][j] = (DATA_TYPE)(i * (j + 1) % n) / m;
      I[i][j] = (i - j) / 3 + (i - j) % 5 - n;
    }
#pragma endscop
}

int main(int argc, char **argv)
{
  int n = SIZE(N);
  int m = SIZE(M);
  DATA_TYPE (*A)[m] = harness_alloc((size_t)n * (size_t)m, sizeof(DATA_TYPE));
  int (*I)[m] = harness_alloc((size_t)n * (size_t)m, sizeof(int));
  harness_open(argc, argv);
  for (int rep = 0; rep < REPS; rep++) {
    memset(A, 0, (size_t)n * (size_t)m * sizeof(DATA_TYPE));
    memset(I, 0, (size_t)n * (size_t)m * sizeof(int));
    harness_start();
    kernel_index_values(n, m, A, I);
    harness_stop();
  }
  OUTPUT("A", (DATA_TYPE *)A, (size_t)n * (size_t)m);
  OUTPUT("I", (int *)I, (size_t)n * (size_t)m);
  free(A);
  free(I);
  return harness_finish("index-values");
}
