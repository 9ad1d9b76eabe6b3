/* The product of two vectors: each core sums its parts, then registers travel along rows and the first column. */
#include <athread.h>
#include <stdio.h>
#include <stdlib.h>

#include "dot.h"

#ifndef ATHREAD_EMULATOR
#define emulated_array(name, first, bytes, element) ((void)0)
#endif

extern void SLAVE_FUN(dot)(void *);

/* Global, as arrays of older programs are. */
static double x[100000], y[100000], sum[4];

int main(int argc, char **argv)
{
  struct dot d = {.n = argc > 1 ? atoi(argv[1]) : 64 * 1000, .x = x, .y = y, .sum = sum};
  double expected = 0;
  for (int i = 0; i < d.n; i++) {
    x[i] = i % 11;
    y[i] = i % 3 - 1;
    expected += x[i] * y[i];
  }
  emulated_array("x", x, sizeof x, sizeof *x);
  emulated_array("y", y, sizeof y, sizeof *y);
  emulated_array("sum", sum, sizeof sum, sizeof *sum);
  emulated_array("argument", &d, sizeof d, 4);
  athread_init();
  athread_spawn(dot, &d);
  athread_join();
  printf("%d elements: %g, expected %g\n", d.n, sum[0], expected);
  return sum[0] != expected;
}
