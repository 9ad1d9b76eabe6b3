/* y = A x: rows are dealt out to the cores; one core brings x to all. */
#include <athread.h>
#include <stdio.h>
#include <stdlib.h>

#include "matvec.h"

#ifndef ATHREAD_EMULATOR
#define emulated_array(name, first, bytes, element) ((void)0)
#endif

extern void SLAVE_FUN(matvec)(void *);

int main(int argc, char **argv)
{
  struct matvec v = {.m = argc > 1 ? atoi(argv[1]) : 150, .n = argc > 2 ? atoi(argv[2]) : 500};
  v.a = malloc((size_t)v.m * (size_t)v.n * sizeof *v.a);
  v.x = malloc((size_t)v.n * sizeof *v.x);
  v.y = malloc((size_t)v.m * sizeof *v.y);
  for (int k = 0; k < v.m * v.n; k++)
    v.a[k] = k % 13 - 6;
  for (int k = 0; k < v.n; k++)
    v.x[k] = k % 5;
  emulated_array("A", v.a, (size_t)v.m * (size_t)v.n * sizeof *v.a, sizeof *v.a);
  emulated_array("x", v.x, (size_t)v.n * sizeof *v.x, sizeof *v.x);
  emulated_array("y", v.y, (size_t)v.m * sizeof *v.y, sizeof *v.y);
  emulated_array("argument", &v, sizeof v, 4);
  athread_init();
  athread_spawn(matvec, &v);
  athread_join();
  int wrong = 0;
  for (int i = 0; i < v.m; i++) {
    double sum = 0;
    for (int k = 0; k < v.n; k++)
      sum += v.a[i * v.n + k] * v.x[k];
    wrong += !(sum == v.y[i]);
  }
  printf("%d x %d: %d elements are wrong\n", v.m, v.n, wrong);
  return wrong != 0;
}
