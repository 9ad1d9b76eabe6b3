/* What is around an element, by small loops: neighbours that are counted, the largest value near the border, positions that wrap around. */
#include "harness.h"

#ifdef LARGE
#define N_DEFAULT 1000
#else
#define N_DEFAULT 30
#endif
#ifndef N
#define N N_DEFAULT
#endif

static void kernel_neighbours(int n, int now[restrict n][n], int next[restrict n][n], int largest[restrict n][n],
                              int around[restrict n][n])
{
#pragma scop
  for (int i = 1; i < n - 1; i++)
    for (int j = 1; j < n - 1; j++) {
      int count = 0;
      for (int di = -1; di <= 1; di++)
        for (int dj = -1; dj <= 1; dj++)
          if (di != 0 || dj != 0)
            count += now[i + di][j + dj];
      next[i][j] = count == 3 || (count == 2 && now[i][j]);
    }
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) {
      int best = now[i][j];
      for (int di = 0; di < 3; di++)
        for (int dj = 0; dj < 3; dj++)
          if (i + di < n && j + dj < n)
            if (now[i + di][j + dj] > best)
              best = now[i + di][j + dj];
      largest[i][j] = best;
    }
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) {
      int up = i == 0 ? n - 1 : i - 1;
      int left = j > 0 ? j - 1 : 0, right = j < n - 1 ? j + 1 : n - 1;
      around[i][j] = now[up][left] + 2 * now[up][j] + 3 * now[i][right];
    }
#pragma endscop
}

int main(int argc, char **argv)
{
  int n = SIZE(N);
  size_t count = (size_t)n * (size_t)n;
  int (*now)[n] = harness_alloc(count, sizeof(int));
  int (*next)[n] = harness_alloc(count, sizeof(int));
  int (*largest)[n] = harness_alloc(count, sizeof(int));
  int (*around)[n] = harness_alloc(count, sizeof(int));
  harness_open(argc, argv);
  for (int rep = 0; rep < REPS; rep++) {
    for (size_t k = 0; k < count; k++)
      ((int *)now)[k] = harness_below(1, k, 2);
    memset(next, 0, count * sizeof(int));
    memset(largest, 0, count * sizeof(int));
    memset(around, 0, count * sizeof(int));
    harness_start();
    kernel_neighbours(n, now, next, largest, around);
    harness_stop();
  }
  OUTPUT("next", (int *)next, count);
  OUTPUT("largest", (int *)largest, count);
  OUTPUT("around", (int *)around, count);
  free(now);
  free(next);
  free(largest);
  free(around);
  return harness_finish("neighbours");
}
