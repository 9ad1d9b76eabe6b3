/* Look-ups: which element is read is data. */
#include "harness.h"

#ifndef DATA_TYPE
#define DATA_TYPE double
#endif
#ifdef LARGE
#define N_DEFAULT 8000000
#define M_DEFAULT 4096
#else
#define N_DEFAULT 61
#define M_DEFAULT 17
#endif
#ifndef N
#define N N_DEFAULT
#endif
#ifndef M
#define M M_DEFAULT
#endif

/* A table with bounds, one without, one by rows; a subscript with arithmetic; one that is read only under a condition; a subscript in a scalar. */
static void kernel_lookup(int n, int m, const DATA_TYPE table[restrict m], const DATA_TYPE *restrict curve,
                          const DATA_TYPE rows[restrict m][4], const int in[restrict n],
                          DATA_TYPE out[restrict n], DATA_TYPE smooth[restrict n], DATA_TYPE sums[restrict n])
{
#pragma scop
  for (int i = 0; i < n; i++)
    out[i] = table[in[i]];
  for (int i = 0; i < n; i++) {
    int k = in[i];
    if (k > 0)
      smooth[i] = (DATA_TYPE)0.5 * (curve[k - 1] + curve[k]);
    else
      smooth[i] = curve[k];
  }
  for (int i = 0; i < n; i++) {
    sums[i] = 0;
    for (int j = 0; j < 4; j++)
      sums[i] += rows[in[i]][j] * out[i];
  }
#pragma endscop
}

int main(int argc, char **argv)
{
  int n = SIZE(N), m = SIZE(M);
  if (m == 0)
    n = 0;
  DATA_TYPE *table = harness_alloc((size_t)m, sizeof(DATA_TYPE));
  DATA_TYPE *curve = harness_alloc((size_t)m, sizeof(DATA_TYPE));
  DATA_TYPE (*rows)[4] = harness_alloc((size_t)m * 4, sizeof(DATA_TYPE));
  int *in = harness_alloc((size_t)n, sizeof(int));
  DATA_TYPE *out = harness_alloc((size_t)n, sizeof(DATA_TYPE));
  DATA_TYPE *smooth = harness_alloc((size_t)n, sizeof(DATA_TYPE));
  DATA_TYPE *sums = harness_alloc((size_t)n, sizeof(DATA_TYPE));
  harness_open(argc, argv);
  for (int k = 0; k < m; k++) {
    table[k] = (DATA_TYPE)harness_unit(1, (uint64_t)k);
    curve[k] = (DATA_TYPE)harness_unit(2, (uint64_t)k);
    for (int j = 0; j < 4; j++)
      rows[k][j] = (DATA_TYPE)harness_unit(3, (uint64_t)k * 4 + (uint64_t)j);
  }
  for (int i = 0; i < n; i++)
    in[i] = harness_below(4, (uint64_t)i, m);
  for (int rep = 0; rep < REPS; rep++) {
    memset(out, 0, (size_t)n * sizeof(DATA_TYPE));
    memset(smooth, 0, (size_t)n * sizeof(DATA_TYPE));
    memset(sums, 0, (size_t)n * sizeof(DATA_TYPE));
    harness_start();
    kernel_lookup(n, m, table, curve, (const DATA_TYPE (*)[4])rows, in, out, smooth, sums);
    harness_stop();
  }
  OUTPUT("out", out, n);
  OUTPUT("smooth", smooth, n);
  OUTPUT("sums", sums, n);
  free(table);
  free(curve);
  free(rows);
  free(in);
  free(out);
  free(smooth);
  free(sums);
  return harness_finish("lookup");
}
