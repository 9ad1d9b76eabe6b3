/* One generation of a cellular automaton on truth values and counts. */
#include "harness.h"

#ifdef LARGE
#define N_DEFAULT 1000
#else
#define N_DEFAULT 30
#endif
#ifndef N
#define N N_DEFAULT
#endif

static void kernel_game_of_life(int n, _Bool now[restrict n][n], _Bool next[restrict n][n])
{
#pragma scop
  for (int i = 1; i < n - 1; i++)
    for (int j = 1; j < n - 1; j++) {
      int count = now[i - 1][j - 1] + now[i - 1][j] + now[i - 1][j + 1] + now[i][j - 1] + now[i][j + 1]
                  + now[i + 1][j - 1] + now[i + 1][j] + now[i + 1][j + 1];
      next[i][j] = count == 3 || (count == 2 && now[i][j]);
    }
#pragma endscop
}

int main(int argc, char **argv)
{
  int n = SIZE(N);
  _Bool (*now)[n] = harness_alloc((size_t)n * (size_t)n, sizeof(_Bool));
  _Bool (*next)[n] = harness_alloc((size_t)n * (size_t)n, sizeof(_Bool));
  harness_open(argc, argv);
  for (int rep = 0; rep < REPS; rep++) {
    for (size_t k = 0; k < (size_t)n * (size_t)n; k++)
      ((_Bool *)now)[k] = harness_below(1, k, 3) == 0;
    memset(next, 0, (size_t)n * (size_t)n * sizeof(_Bool));
    harness_start();
    kernel_game_of_life(n, now, next);
    harness_stop();
  }
  OUTPUT("next", (_Bool *)next, (size_t)n * (size_t)n);
  free(now);
  free(next);
  return harness_finish("game-of-life");
}
