/* B = A^T, then a transposition in place. */
#include "harness.h"

#ifndef DATA_TYPE
#define DATA_TYPE double
#endif
#ifdef LARGE
#define N_DEFAULT 2000
#else
#define N_DEFAULT 40
#endif
#ifndef N
#define N N_DEFAULT
#endif

static void kernel_transpose(int n, DATA_TYPE A[restrict n][n], DATA_TYPE B[restrict n][n])
{
#pragma scop
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      B[j][i] = A[i][j];
  for (int i = 0; i < n; i++)
    for (int j = i + 1; j < n; j++) {
      DATA_TYPE kept = A[i][j];
      A[i][j] = A[j][i];
      A[j][i] = kept;
    }
#pragma endscop
}

int main(int argc, char **argv)
{
  int n = SIZE(N);
  DATA_TYPE (*A)[n] = harness_alloc((size_t)n * (size_t)n, sizeof(DATA_TYPE));
  DATA_TYPE (*B)[n] = harness_alloc((size_t)n * (size_t)n, sizeof(DATA_TYPE));
  harness_open(argc, argv);
  for (int rep = 0; rep < REPS; rep++) {
    for (size_t k = 0; k < (size_t)n * (size_t)n; k++)
      ((DATA_TYPE *)A)[k] = (DATA_TYPE)harness_unit(1, k);
    memset(B, 0, (size_t)n * (size_t)n * sizeof(DATA_TYPE));
    harness_start();
    kernel_transpose(n, A, B);
    harness_stop();
  }
  OUTPUT("A", (DATA_TYPE *)A, (size_t)n * (size_t)n);
  OUTPUT("B", (DATA_TYPE *)B, (size_t)n * (size_t)n);
  free(A);
  free(B);
  return harness_finish("transpose");
}
