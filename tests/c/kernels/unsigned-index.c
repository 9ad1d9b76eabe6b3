/* Loop variables and sizes of type size_t. */
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

static void kernel_unsigned_index(int n, int m, DATA_TYPE A[restrict n][m], DATA_TYPE x[restrict m])
{
  size_t rows = (size_t)n, columns = (size_t)m;
#pragma scop
  for (size_t i = 0; i < rows; i++)
    for (size_t j = 1; j < columns; j++)
      A[i][j] = A[i][j] + A[i][j - 1] * x[j];
  for (size_t i = rows; i > 0; i--)
    A[i - 1][0] += (DATA_TYPE)i;
#pragma endscop
}

int main(int argc, char **argv)
{
  int n = SIZE(N);
  int m = SIZE(M);
  DATA_TYPE (*A)[m] = harness_alloc((size_t)n * (size_t)m, sizeof(DATA_TYPE));
  DATA_TYPE *x = harness_alloc((size_t)m, sizeof(DATA_TYPE));
  harness_open(argc, argv);
  for (int rep = 0; rep < REPS; rep++) {
    for (size_t k = 0; k < (size_t)n * (size_t)m; k++)
      ((DATA_TYPE *)A)[k] = (DATA_TYPE)harness_unit(1, k);
    for (size_t k = 0; k < (size_t)m; k++)
      x[k] = (DATA_TYPE)harness_unit(2, k);
    harness_start();
    kernel_unsigned_index(n, m, A, x);
    harness_stop();
  }
  OUTPUT("A", (DATA_TYPE *)A, (size_t)n * (size_t)m);
  free(A);
  free(x);
  return harness_finish("unsigned-index");
}
