#include <stdio.h>
#include "kernels.h"

static number a[SIZE][SIZE], b[SIZE][SIZE], c[SIZE][SIZE];

int main(void)
{
  for (int i = 0; i < SIZE; i++)
    for (int j = 0; j < SIZE; j++) {
      a[i][j] = (i * 7 + j * 3) % 11;
      b[i][j] = (i * 5 + j) % 13;
    }
  product(c, a, b);
  smooth(SIZE, a[0], c[SIZE / 2]);
  number sum = 0.0;
  for (int i = 0; i < SIZE; i++)
    sum += c[i][SIZE - 1 - i] + a[0][i];
  printf("%.17g\n", sum);
  return 0;
}
