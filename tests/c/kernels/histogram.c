/* A histogram whose counts are declared as a reduction: each thread has counts of its own. */
#include "harness.h"

#ifdef LARGE
#define N_DEFAULT 20000000
#define M_DEFAULT 256
#else
#define N_DEFAULT 10007
#define M_DEFAULT 61
#endif
#ifndef N
#define N N_DEFAULT
#endif
#ifndef M
#define M M_DEFAULT
#endif

static void kernel_histogram(int n, int m, const int value[restrict n], const int weight[restrict n],
                             unsigned count[restrict m], long total[restrict m])
{
#pragma scop
#pragma lozenge reduction(+: count, total)
  for (int i = 0; i < n; i++) {
    count[value[i]]++;
    total[value[i]] += weight[i];
  }
#pragma endscop
}

int main(int argc, char **argv)
{
  int n = SIZE(N), m = SIZE(M);
  if (m == 0)
    n = 0;
  int *value = harness_alloc((size_t)n, sizeof(int));
  int *weight = harness_alloc((size_t)n, sizeof(int));
  unsigned *count = harness_alloc((size_t)m, sizeof(unsigned));
  long *total = harness_alloc((size_t)m, sizeof(long));
  harness_open(argc, argv);
  for (int i = 0; i < n; i++) {
    value[i] = harness_below(1, (uint64_t)i, m);
    weight[i] = harness_below(2, (uint64_t)i, 2001) - 1000;
  }
  for (int rep = 0; rep < REPS; rep++) {
    memset(count, 0, (size_t)m * sizeof(unsigned));
    memset(total, 0, (size_t)m * sizeof(long));
    harness_start();
    kernel_histogram(n, m, value, weight, count, total);
    harness_stop();
  }
  OUTPUT("count", count, m);
  OUTPUT("total", total, m);
  free(value);
  free(weight);
  free(count);
  free(total);
  return harness_finish("histogram");
}
