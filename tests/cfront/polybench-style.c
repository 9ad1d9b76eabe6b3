// The style of a benchmark suite: sizes and types by macros, arrays by macros over constant extents.
#include <stdio.h>
#include <stdlib.h>
#ifdef SINGLE
#define DATA_TYPE float
#define SCALAR_VAL(x) x##f
#else
#define DATA_TYPE double
#define SCALAR_VAL(x) x
#endif
#define NI 200
#define NJ (NI + 20)
#define _PB_NI BOUND(NI, ni)
#define _PB_NJ BOUND(NJ, nj)
#define BOUND(constant, scalar) scalar
#define PAD 0
#define ARRAY_2D(name, d1, d2) name[d1 + PAD][d2 + PAD]

static void kernel(int ni, int nj, DATA_TYPE alpha, DATA_TYPE ARRAY_2D(A, NI, NJ), DATA_TYPE ARRAY_2D(B, NI, NJ))
{
  int i, j;

#pragma scop
  for (i = 0; i < _PB_NI; i++)
    for (j = 0; j < _PB_NJ && j < NJ - 1; j++)
      A[i][j] = SCALAR_VAL(0.5) * B[i][j + 1] + (DATA_TYPE)alpha;
#pragma endscop
}

int main(void)
{
  DATA_TYPE (*A)[NI][NJ] = malloc(sizeof(*A)), (*B)[NI][NJ] = malloc(sizeof(*B));
  kernel(NI, NJ, 1, *A, *B);
#pragma scop
  for (int i = 0; i < NI; i++)
    (*A)[i][0] = (*B)[0][i];
#pragma endscop
  printf("%g\n", (*A)[3][0]);
  return 0;
}
