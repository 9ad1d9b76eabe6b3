/* Places that data give, where they are written: a histogram, sums into buckets, and a permutation. */
#include "harness.h"

#ifndef DATA_TYPE
#define DATA_TYPE double
#endif
#ifdef LARGE
#define N_DEFAULT 4000
#define M_DEFAULT 2000
#else
#define N_DEFAULT 40
#define M_DEFAULT 13
#endif
#ifndef N
#define N N_DEFAULT
#endif
#ifndef M
#define M M_DEFAULT
#endif

static void kernel_scatter(int n, int m, const int to[restrict n], const int order[restrict n],
                           DATA_TYPE bins[restrict m + 1], DATA_TYPE A[restrict n][m],
                           DATA_TYPE B[restrict n][m], DATA_TYPE *restrict x)
{
#pragma scop
  for (int i = 0; i < n; i++)
    bins[to[i]] += x[i];
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++)
      B[order[i]][j] = A[i][j] * 2 + bins[j];
  for (int i = 0; i < n; i++) {
    int k = order[i];
    x[k] *= 3;
    x[i] += 1;
    if (to[i] > 2)
      bins[to[i]] = x[k];
  }
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++)
      A[i][j] += B[i][j] * 0.5;
#pragma endscop
}

int main(int argc, char **argv)
{
  int n = SIZE(N);
  int m = SIZE(M);
  size_t count = (size_t)n * (size_t)m;
  int *to = harness_alloc((size_t)n, sizeof(int));
  int *order = harness_alloc((size_t)n, sizeof(int));
  DATA_TYPE *bins = harness_alloc((size_t)m + 1, sizeof(DATA_TYPE));
  DATA_TYPE *x = harness_alloc((size_t)n, sizeof(DATA_TYPE));
  DATA_TYPE(*A)[m] = harness_alloc(count, sizeof(DATA_TYPE));
  DATA_TYPE(*B)[m] = harness_alloc(count, sizeof(DATA_TYPE));
  for (int i = 0; i < n; i++) {
    to[i] = harness_below(1, i, m + 1);
    order[i] = harness_below(2, i, n);
  }
  harness_open(argc, argv);
  for (int rep = 0; rep < REPS; rep++) {
    for (size_t k = 0; k < count; k++) {
      A[k / m][k % m] = (DATA_TYPE)harness_unit(3, k);
      B[k / m][k % m] = 0;
    }
    for (int i = 0; i < n; i++)
      x[i] = (DATA_TYPE)harness_unit(4, i);
    memset(bins, 0, ((size_t)m + 1) * sizeof(DATA_TYPE));
    harness_start();
    kernel_scatter(n, m, to, order, bins, A, B, x);
    harness_stop();
  }
  OUTPUT("bins", bins, (size_t)m + 1);
  OUTPUT("x", x, (size_t)n);
  OUTPUT("A", (DATA_TYPE *)A, count);
  OUTPUT("B", (DATA_TYPE *)B, count);
  free(to);
  free(order);
  free(bins);
  free(x);
  free(A);
  free(B);
  return harness_finish("scatter");
}
