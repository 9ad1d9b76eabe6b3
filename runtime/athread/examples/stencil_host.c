/* A line of n points, averaged with its neighbours t times, in one spawn: a barrier stands between two steps. */
#include <athread.h>
#include <stdio.h>
#include <stdlib.h>

#include "stencil.h"

#ifndef ATHREAD_EMULATOR
#define emulated_array(name, first, bytes, element) ((void)0)
#endif

extern void SLAVE_FUN(stencil)(void *);

int main(int argc, char **argv)
{
  int n = argc > 1 ? atoi(argv[1]) : 5000, t = argc > 2 ? atoi(argv[2]) : 6;
  double *line = malloc((size_t)n * sizeof *line), *expected = malloc(2 * (size_t)n * sizeof *expected);
  struct stencil s = {.n = n, .steps = t, .line = {line, malloc((size_t)n * sizeof *line)}};
  for (int i = 0; i < n; i++)
    expected[i] = line[i] = s.line[1][i] = (i * 37) % 101;
  for (int step = 0; step < t; step++) {
    double *from = expected + step % 2 * n, *to = expected + (step + 1) % 2 * n;
    for (int i = 0; i < n; i++)
      to[i] = i == 0 || i == n - 1 ? from[i] : (from[i - 1] + from[i] + from[i + 1]) / 3;
  }
  emulated_array("even", s.line[0], (size_t)n * sizeof *line, sizeof *line);
  emulated_array("odd", s.line[1], (size_t)n * sizeof *line, sizeof *line);
  emulated_array("argument", &s, sizeof s, 4);
  athread_init();
  athread_spawn(stencil, &s);
  athread_join();
  int wrong = 0;
  for (int i = 0; i < n; i++)
    wrong += !(s.line[t % 2][i] == expected[t % 2 * n + i]);
  printf("%d points, %d steps: %d are wrong\n", n, t, wrong);
  return wrong != 0;
}
