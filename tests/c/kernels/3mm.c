/* G = (A B) (C D). */
#include "harness.h"

#ifndef DATA_TYPE
#define DATA_TYPE double
#endif
#ifdef LARGE
#define NI_DEFAULT 800
#define NJ_DEFAULT 900
#define NK_DEFAULT 1000
#define NL_DEFAULT 1100
#define NM_DEFAULT 1200
#else
#define NI_DEFAULT 16
#define NJ_DEFAULT 18
#define NK_DEFAULT 20
#define NL_DEFAULT 22
#define NM_DEFAULT 24
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
#ifndef NM
#define NM NM_DEFAULT
#endif

static void kernel_3mm(int ni, int nj, int nk, int nl, int nm, DATA_TYPE E[restrict ni][nj],
                       DATA_TYPE A[restrict ni][nk], DATA_TYPE B[restrict nk][nj],
                       DATA_TYPE F[restrict nj][nl], DATA_TYPE C[restrict nj][nm],
                       DATA_TYPE D[restrict nm][nl], DATA_TYPE G[restrict ni][nl])
{
#pragma scop
  for (int i = 0; i < ni; i++)
    for (int j = 0; j < nj; j++) {
      E[i][j] = 0;
      for (int k = 0; k < nk; ++k)
        E[i][j] += A[i][k] * B[k][j];
    }
  for (int i = 0; i < nj; i++)
    for (int j = 0; j < nl; j++) {
      F[i][j] = 0;
      for (int k = 0; k < nm; ++k)
        F[i][j] += C[i][k] * D[k][j];
    }
  for (int i = 0; i < ni; i++)
    for (int j = 0; j < nl; j++) {
      G[i][j] = 0;
      for (int k = 0; k < nj; ++k)
        G[i][j] += E[i][k] * F[k][j];
    }
#pragma endscop
}

int main(int argc, char **argv)
{
  int ni = SIZE(NI);
  int nj = SIZE(NJ);
  int nk = SIZE(NK);
  int nl = SIZE(NL);
  int nm = SIZE(NM);
  DATA_TYPE (*E)[nj] = harness_alloc((size_t)ni * (size_t)nj, sizeof(DATA_TYPE));
  DATA_TYPE (*A)[nk] = harness_alloc((size_t)ni * (size_t)nk, sizeof(DATA_TYPE));
  DATA_TYPE (*B)[nj] = harness_alloc((size_t)nk * (size_t)nj, sizeof(DATA_TYPE));
  DATA_TYPE (*F)[nl] = harness_alloc((size_t)nj * (size_t)nl, sizeof(DATA_TYPE));
  DATA_TYPE (*C)[nm] = harness_alloc((size_t)nj * (size_t)nm, sizeof(DATA_TYPE));
  DATA_TYPE (*D)[nl] = harness_alloc((size_t)nm * (size_t)nl, sizeof(DATA_TYPE));
  DATA_TYPE (*G)[nl] = harness_alloc((size_t)ni * (size_t)nl, sizeof(DATA_TYPE));
  harness_open(argc, argv);
  for (int rep = 0; rep < REPS; rep++) {
    memset(E, 0, (size_t)ni * (size_t)nj * sizeof(DATA_TYPE));
    for (size_t k = 0; k < (size_t)ni * (size_t)nk; k++)
      ((DATA_TYPE *)A)[k] = (DATA_TYPE)harness_unit(2, k);
    for (size_t k = 0; k < (size_t)nk * (size_t)nj; k++)
      ((DATA_TYPE *)B)[k] = (DATA_TYPE)harness_unit(3, k);
    memset(F, 0, (size_t)nj * (size_t)nl * sizeof(DATA_TYPE));
    for (size_t k = 0; k < (size_t)nj * (size_t)nm; k++)
      ((DATA_TYPE *)C)[k] = (DATA_TYPE)harness_unit(5, k);
    for (size_t k = 0; k < (size_t)nm * (size_t)nl; k++)
      ((DATA_TYPE *)D)[k] = (DATA_TYPE)harness_unit(6, k);
    memset(G, 0, (size_t)ni * (size_t)nl * sizeof(DATA_TYPE));
    harness_start();
    kernel_3mm(ni, nj, nk, nl, nm, E, A, B, F, C, D, G);
    harness_stop();
  }
  OUTPUT("E", (DATA_TYPE *)E, (size_t)ni * (size_t)nj);
  OUTPUT("F", (DATA_TYPE *)F, (size_t)nj * (size_t)nl);
  OUTPUT("G", (DATA_TYPE *)G, (size_t)ni * (size_t)nl);
  free(E);
  free(A);
  free(B);
  free(F);
  free(C);
  free(D);
  free(G);
  return harness_finish("3mm");
}
