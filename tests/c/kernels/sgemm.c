/* C = alpha A B + beta C in single precision, with constants of double precision in the update. */
#include "harness.h"

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

static void kernel_sgemm(int ni, int nj, int nk, float alpha, float C[restrict ni][nj],
                         float A[restrict ni][nk], float B[restrict nk][nj])
{
#pragma scop
  for (int i = 0; i < ni; i++)
    for (int j = 0; j < nj; j++) {
      C[i][j] = 1.25f * C[i][j];
      for (int k = 0; k < nk; k++)
        C[i][j] += alpha * A[i][k] * B[k][j];
    }
#pragma endscop
}

int main(int argc, char **argv)
{
  int ni = SIZE(NI);
  int nj = SIZE(NJ);
  int nk = SIZE(NK);
  float alpha = 1.5f;
  float (*C)[nj] = harness_alloc((size_t)ni * (size_t)nj, sizeof(float));
  float (*A)[nk] = harness_alloc((size_t)ni * (size_t)nk, sizeof(float));
  float (*B)[nj] = harness_alloc((size_t)nk * (size_t)nj, sizeof(float));
  harness_open(argc, argv);
  for (int rep = 0; rep < REPS; rep++) {
    for (size_t k = 0; k < (size_t)ni * (size_t)nj; k++)
      ((float *)C)[k] = (float)harness_unit(1, k);
    for (size_t k = 0; k < (size_t)ni * (size_t)nk; k++)
      ((float *)A)[k] = (float)harness_unit(2, k);
    for (size_t k = 0; k < (size_t)nk * (size_t)nj; k++)
      ((float *)B)[k] = (float)harness_unit(3, k);
    harness_start();
    kernel_sgemm(ni, nj, nk, alpha, C, A, B);
    harness_stop();
  }
  OUTPUT("C", (float *)C, (size_t)ni * (size_t)nj);
  free(C);
  free(A);
  free(B);
  return harness_finish("sgemm");
}
