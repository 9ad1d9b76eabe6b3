/* The transpose of a matrix with rows scaled, by descriptors: a core for each row. */
#include <athread.h>
#include <stdio.h>
#include <stdlib.h>

#include "descriptors.h"

extern void SLAVE_FUN(descriptors)(void *);

int main(void)
{
  double *matrix = malloc(2 * ROWS * WIDTH * sizeof *matrix);
  for (int k = 0; k < ROWS * WIDTH; k++)
    matrix[k] = k % 13 - 6;
  athread_init();
  athread_spawn(descriptors, matrix);
  athread_join();
  int wrong = 0;
  for (int i = 0; i < ROWS; i++)
    for (int j = 0; j < WIDTH; j++) {
      double value = matrix[i * WIDTH + j];
      value = value > 2 ? 2 : value;
      value = i % 2 == 0 && j % 4 < 2 ? -value : value;
      wrong += !(matrix[ROWS * WIDTH + j * ROWS + i] == value);
    }
  printf("%d x %d: %d elements are wrong\n", ROWS, WIDTH, wrong);
  return wrong != 0;
}
