/* D = alpha A B C + beta D. */
#include "harness.h"

#ifndef DATA_TYPE
#define DATA_TYPE double
#endif
#ifdef LARGE
#define NI_DEFAULT 800
#define NJ_DEFAULT 900
#define NK_DEFAULT 1100
#define NL_DEFAULT 1200
#else
#define NI_DEFAULT 16
#define NJ_DEFAULT 18
#define NK_DEFAULT 22
#define NL_DEFAULT 24
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
#ifndef NL
#define NL NL_DEFAULT
#endif

static void kernel_2mm(int ni, int nj, int nk, int nl, DATA_TYPE alpha, DATA_TYPE beta,
                       DATA_TYPE tmp[restrict ni][nj], DATA_TYPE A[restrict ni][nk],
                       DATA_TYPE B[restrict nk][nj], DATA_TYPE C[restrict nj][nl],
                       DATA_TYPE D[restrict ni][nl])
{
#pragma scop
  for (int i = 0; i < ni; i++)
    for (int j = 0; j < nj; j++) {
      tmp[i][j] = 0;
      for (int k = 0; k < nk; ++k)
        tmp[i][j] += alpha * A[i][k] * B[k][j];
    }
  for (int i = 0; i < ni; i++)
    for (int j = 0; j < nl; j++) {
      D[i][j] *= beta;
      for (int k = 0; k < nj; ++k)
        D[i][j] += tmp[i][k] * C[k][j];
    }
#pragma endscop
}

int main(int argc, char **argv)
{
  int ni = SIZE(NI);
  int nj = SIZE(NJ);
  int nk = SIZE(NK);
  int nl = SIZE(NL);
  DATA_TYPE alpha = 1.5;
  DATA_TYPE beta = 1.25;
  DATA_TYPE (*tmp)[nj] = harness_alloc((size_t)ni * (size_t)nj, sizeof(DATA_TYPE));
  DATA_TYPE (*A)[nk] = harness_alloc((size_t)ni * (size_t)nk, sizeof(DATA_TYPE));
  DATA_TYPE (*B)[nj] = harness_alloc((size_t)nk * (size_t)nj, sizeof(DATA_TYPE));
  DATA_TYPE (*C)[nl] = harness_alloc((size_t)nj * (size_t)nl, sizeof(DATA_TYPE));
  DATA_TYPE (*D)[nl] = harness_alloc((size_t)ni * (size_t)nl, sizeof(DATA_TYPE));
  harness_open(argc, argv);
  for (int rep = 0; rep < REPS; rep++) {
    memset(tmp, 0, (size_t)ni * (size_t)nj * sizeof(DATA_TYPE));
    for (size_t k = 0; k < (size_t)ni * (size_t)nk; k++)
      ((DATA_TYPE *)A)[k] = (DATA_TYPE)harness_unit(2, k);
    for (size_t k = 0; k < (size_t)nk * (size_t)nj; k++)
      ((DATA_TYPE *)B)[k] = (DATA_TYPE)harness_unit(3, k);
    for (size_t k = 0; k < (size_t)nj * (size_t)nl; k++)
      ((DATA_TYPE *)C)[k] = (DATA_TYPE)harness_unit(4, k);
    for (size_t k = 0; k < (size_t)ni * (size_t)nl; k++)
      ((DATA_TYPE *)D)[k] = (DATA_TYPE)harness_unit(5, k);
    harness_start();
    kernel_2mm(ni, nj, nk, nl, alpha, beta, tmp, A, B, C, D);
    harness_stop();
  }
  OUTPUT("tmp", (DATA_TYPE *)tmp, (size_t)ni * (size_t)nj);
  OUTPUT("D", (DATA_TYPE *)D, (size_t)ni * (size_t)nl);
  free(tmp);
  free(A);
  free(B);
  free(C);
  free(D);
  return harness_finish("2mm");
}
