/* C = A B of 32-bit integers. */
#include "harness.h"

#ifdef LARGE
#define NI_DEFAULT 500
#define NJ_DEFAULT 500
#define NK_DEFAULT 500
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

static void kernel_igemm(int ni, int nj, int nk, int C[restrict ni][nj], int A[restrict ni][nk],
                         int B[restrict nk][nj])
{
#pragma scop
  for (int i = 0; i < ni; i++)
    for (int j = 0; j < nj; j++) {
      C[i][j] = 0;
      for (int k = 0; k < nk; k++)
        C[i][j] += A[i][k] * B[k][j];
    }
#pragma endscop
}

int main(int argc, char **argv)
{
  int ni = SIZE(NI);
  int nj = SIZE(NJ);
  int nk = SIZE(NK);
  int (*C)[nj] = harness_alloc((size_t)ni * (size_t)nj, sizeof(int));
  int (*A)[nk] = harness_alloc((size_t)ni * (size_t)nk, sizeof(int));
  int (*B)[nj] = harness_alloc((size_t)nk * (size_t)nj, sizeof(int));
  harness_open(argc, argv);
  for (int rep = 0; rep < REPS; rep++) {
    memset(C, 0, (size_t)ni * (size_t)nj * sizeof(int));
    for (size_t k = 0; k < (size_t)ni * (size_t)nk; k++)
      ((int *)A)[k] = (int)(harness_below(2, k, 7));
    for (size_t k = 0; k < (size_t)nk * (size_t)nj; k++)
      ((int *)B)[k] = (int)(harness_below(3, k, 7));
    harness_start();
    kernel_igemm(ni, nj, nk, C, A, B);
    harness_stop();
  }
  OUTPUT("C", (int *)C, (size_t)ni * (size_t)nj);
  free(C);
  free(A);
  free(B);
  return harness_finish("igemm");
}
