/* C = A B on SW26010Pro: each core keeps one block of A, B and C in its local memory; blocks of A travel along rows, of B along columns. */
#include <athread.h>
#include <stdio.h>
#include <stdlib.h>

#include "remote.h"

#ifndef ATHREAD_EMULATOR
#define emulated_array(name, first, bytes, element) ((void)0)
#endif

extern void SLAVE_FUN(remote)(void *);

int main(void)
{
  int n = 8 * BLOCK;
  size_t bytes = (size_t)n * (size_t)n * sizeof(double);
  struct remote r = {.n = n, .a = malloc(bytes), .b = malloc(bytes), .c = malloc(bytes)};
  for (int k = 0; k < n * n; k++) {
    r.a[k] = k % 7 - 3;
    r.b[k] = k % 11 - 5;
  }
  emulated_array("A", r.a, bytes, sizeof(double));
  emulated_array("B", r.b, bytes, sizeof(double));
  emulated_array("C", r.c, bytes, sizeof(double));
  emulated_array("argument", &r, sizeof r, 4);
  athread_init();
  athread_spawn(remote, &r);
  athread_join();
  int wrong = 0;
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) {
      double sum = 0;
      for (int k = 0; k < n; k++)
        sum += r.a[i * n + k] * r.b[k * n + j];
      wrong += !(sum == r.c[i * n + j]);
    }
  printf("%d x %d: %d elements are wrong\n", n, n, wrong);
  return wrong != 0;
}
