#include "kernels.h"
#include "zero.h"

void product(number c[restrict SIZE][SIZE], number a[restrict SIZE][SIZE], number b[restrict SIZE][SIZE])
{
#pragma scop
  for (int i = 0; i < SIZE; i++)
    for (int j = 0; j < SIZE; j++) {
      c[i][j] = ZERO;
      for (int k = 0; k < SIZE; k++)
        c[i][j] += a[i][k] * b[k][j];
    }
#pragma endscop
}
