/* A contraction of four-dimensional tensors: R[a][b][c][d] += S[a][e][b][f] T[f][c][e][d]. */
#include "harness.h"

#ifndef DATA_TYPE
#define DATA_TYPE double
#endif
#ifdef LARGE
#define NA_DEFAULT 20
#define NB_DEFAULT 20
#define NC_DEFAULT 20
#define ND_DEFAULT 20
#define NE_DEFAULT 20
#define NF_DEFAULT 20
#else
#define NA_DEFAULT 5
#define NB_DEFAULT 6
#define NC_DEFAULT 7
#define ND_DEFAULT 8
#define NE_DEFAULT 4
#define NF_DEFAULT 3
#endif
#ifndef NA
#define NA NA_DEFAULT
#endif
#ifndef NB
#define NB NB_DEFAULT
#endif
#ifndef NC
#define NC NC_DEFAULT
#endif
#ifndef ND
#define ND ND_DEFAULT
#endif
#ifndef NE
#define NE NE_DEFAULT
#endif
#ifndef NF
#define NF NF_DEFAULT
#endif

static void kernel_contraction(int na, int nb, int nc, int nd, int ne, int nf,
                               DATA_TYPE R[restrict na][nb][nc][nd], DATA_TYPE S[restrict na][ne][nb][nf],
                               DATA_TYPE T[restrict nf][nc][ne][nd])
{
#pragma scop
  for (int a = 0; a < na; a++)
    for (int b = 0; b < nb; b++)
      for (int c = 0; c < nc; c++)
        for (int d = 0; d < nd; d++)
          for (int e = 0; e < ne; e++)
            for (int f = 0; f < nf; f++)
              R[a][b][c][d] += S[a][e][b][f] * T[f][c][e][d];
#pragma endscop
}

int main(int argc, char **argv)
{
  int na = SIZE(NA);
  int nb = SIZE(NB);
  int nc = SIZE(NC);
  int nd = SIZE(ND);
  int ne = SIZE(NE);
  int nf = SIZE(NF);
  DATA_TYPE (*R)[nb][nc][nd] = harness_alloc((size_t)na * (size_t)nb * (size_t)nc * (size_t)nd, sizeof(DATA_TYPE));
  DATA_TYPE (*S)[ne][nb][nf] = harness_alloc((size_t)na * (size_t)ne * (size_t)nb * (size_t)nf, sizeof(DATA_TYPE));
  DATA_TYPE (*T)[nc][ne][nd] = harness_alloc((size_t)nf * (size_t)nc * (size_t)ne * (size_t)nd, sizeof(DATA_TYPE));
  harness_open(argc, argv);
  for (int rep = 0; rep < REPS; rep++) {
    memset(R, 0, (size_t)na * (size_t)nb * (size_t)nc * (size_t)nd * sizeof(DATA_TYPE));
    for (size_t k = 0; k < (size_t)na * (size_t)ne * (size_t)nb * (size_t)nf; k++)
      ((DATA_TYPE *)S)[k] = (DATA_TYPE)harness_unit(2, k);
    for (size_t k = 0; k < (size_t)nf * (size_t)nc * (size_t)ne * (size_t)nd; k++)
      ((DATA_TYPE *)T)[k] = (DATA_TYPE)harness_unit(3, k);
    harness_start();
    kernel_contraction(na, nb, nc, nd, ne, nf, R, S, T);
    harness_stop();
  }
  OUTPUT("R", (DATA_TYPE *)R, (size_t)na * (size_t)nb * (size_t)nc * (size_t)nd);
  free(R);
  free(S);
  free(T);
  return harness_finish("contraction");
}
