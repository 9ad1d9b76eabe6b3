/* C = A B on the computing cores: tiles of C are dealt out by rows and columns of cores; A and B come through local memory. */
#include <athread.h>
#include <stdio.h>
#include <stdlib.h>

#include "product.h"

#ifndef ATHREAD_EMULATOR
#define emulated_array(name, first, bytes, element) ((void)0)
#endif

extern void SLAVE_FUN(product)(void *);

int main(int argc, char **argv)
{
  struct product p = {.m = argc > 1 ? atoi(argv[1]) : 200, .n = argc > 2 ? atoi(argv[2]) : 130, .k = argc > 3 ? atoi(argv[3]) : 70};
  p.a = malloc((size_t)p.m * (size_t)p.k * sizeof *p.a);
  p.b = malloc((size_t)p.k * (size_t)p.n * sizeof *p.b);
  p.c = malloc((size_t)p.m * (size_t)p.n * sizeof *p.c);
  for (int x = 0; x < p.m * p.k; x++)
    p.a[x] = x % 7 - 3;
  for (int x = 0; x < p.k * p.n; x++)
    p.b[x] = x % 5 - 2;
  emulated_array("A", p.a, (size_t)p.m * (size_t)p.k * sizeof *p.a, sizeof *p.a);
  emulated_array("B", p.b, (size_t)p.k * (size_t)p.n * sizeof *p.b, sizeof *p.b);
  emulated_array("C", p.c, (size_t)p.m * (size_t)p.n * sizeof *p.c, sizeof *p.c);
  emulated_array("argument", &p, sizeof p, 4);
  athread_init();
  athread_spawn(product, &p);
  athread_join();
  int wrong = 0;
  for (int i = 0; i < p.m; i++)
    for (int j = 0; j < p.n; j++) {
      double sum = 0;
      for (int x = 0; x < p.k; x++)
        sum += p.a[i * p.k + x] * p.b[x * p.n + j];
      wrong += !(p.c[i * p.n + j] == sum);
    }
  printf("%d x %d x %d: %d of %d elements are wrong\n", p.m, p.n, p.k, wrong, p.m * p.n);
  free(p.a);
  free(p.b);
  free(p.c);
  return wrong != 0;
}
