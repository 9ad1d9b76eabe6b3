/* C += A B over plain pointers with subscripts i * n + j. */
#include "harness.h"

#ifndef DATA_TYPE
#define DATA_TYPE double
#endif
#ifdef LARGE
#define NI_DEFAULT 1000
#define NJ_DEFAULT 1100
#define NK_DEFAULT 1200
#else
#define NI_DEFAULT 20
#define NJ_DEFAULT 25
#define NK_DEFAULT 30
#endif
#ifndef NI
#define NI NI_DEFAULT
#endif
#ifndef NJ
#define NJ NJ_DEFAULT
#endif
#ifndef NK
#define NK NK_DEFAULT
#endif

static void kernel_flat_gemm(int ni, int nj, int nk, DATA_TYPE *restrict C, DATA_TYPE *restrict A,
                             DATA_TYPE *restrict B)
{
#pragma scop
  for (int i = 0; i < ni; i++)
    for (int j = 0; j < nj; j++)
      for (int k = 0; k < nk; k++)
        C[i * nj + j] += A[i * nk + k] * B[k * nj + j];
#pragma endscop
}

int main(int argc, char **argv)
{
  int ni = SIZE(NI);
  int nj = SIZE(NJ);
  int nk = SIZE(NK);
  DATA_TYPE *C = harness_alloc((size_t)ni * (size_t)nj, sizeof(DATA_TYPE));
  DATA_TYPE *A = harness_alloc((size_t)ni * (size_t)nk, sizeof(DATA_TYPE));
  DATA_TYPE *B = harness_alloc((size_t)nk * (size_t)nj, sizeof(DATA_TYPE));
  harness_open(argc, argv);
  for (int rep = 0; rep < REPS; rep++) {
    for (size_t k = 0; k < (size_t)ni * (size_t)nj; k++)
      C[k] = (DATA_TYPE)harness_unit(1, k);
    for (size_t k = 0; k < (size_t)ni * (size_t)nk; k++)
      A[k] = (DATA_TYPE)harness_unit(2, k);
    for (size_t k = 0; k < (size_t)nk * (size_t)nj; k++)
      B[k] = (DATA_TYPE)harness_unit(3, k);
    harness_start();
    kernel_flat_gemm(ni, nj, nk, C, A, B);
    harness_stop();
  }
  OUTPUT("C", (DATA_TYPE *)C, (size_t)ni * (size_t)nj);
  free(C);
  free(A);
  free(B);
  return harness_finish("flat-gemm");
}
