/* The largest number of pairs in a folded sequence of bases, by dynamic programming. */
#include "harness.h"

#ifdef LARGE
#define N_DEFAULT 2500
#else
#define N_DEFAULT 60
#endif
#ifndef N
#define N N_DEFAULT
#endif

#define MAX(a, b) ((a) >= (b) ? (a) : (b))
#define PAIRS(a, b) ((a) + (b) == 3 ? 1 : 0)

static void kernel_nussinov(int n, int seq[restrict n], int table[restrict n][n])
{
#pragma scop
  for (int i = n - 1; i >= 0; i--)
    for (int j = i + 1; j < n; j++) {
      if (j - 1 >= 0)
        table[i][j] = MAX(table[i][j], table[i][j - 1]);
      if (i + 1 < n)
        table[i][j] = MAX(table[i][j], table[i + 1][j]);
      if (j - 1 >= 0 && i + 1 < n) {
        if (i < j - 1)
          table[i][j] = MAX(table[i][j], table[i + 1][j - 1] + PAIRS(seq[i], seq[j]));
        else
          table[i][j] = MAX(table[i][j], table[i + 1][j - 1]);
      }
      for (int k = i + 1; k < j; k++)
        table[i][j] = MAX(table[i][j], table[i][k] + table[k + 1][j]);
    }
#pragma endscop
}

int main(int argc, char **argv)
{
  int n = SIZE(N);
  int *seq = harness_alloc((size_t)n, sizeof(int));
  int (*table)[n] = harness_alloc((size_t)n * (size_t)n, sizeof(int));
  harness_open(argc, argv);
  for (int rep = 0; rep < REPS; rep++) {
    for (size_t k = 0; k < (size_t)n; k++)
      ((int *)seq)[k] = harness_below(1, k, 4);
    memset(table, 0, (size_t)n * (size_t)n * sizeof(int));
    harness_start();
    kernel_nussinov(n, seq, table);
    harness_stop();
  }
  OUTPUT("table", (int *)table, (size_t)n * (size_t)n);
  free(seq);
  free(table);
  return harness_finish("nussinov");
}
