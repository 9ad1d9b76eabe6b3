/* Many tridiagonal systems side by side, by the method of Thomas: rows forward, then backward. */
#include "harness.h"

#ifndef DATA_TYPE
#define DATA_TYPE double
#endif
#ifdef LARGE
#define N_DEFAULT 2000
#define M_DEFAULT 2003
#else
#define N_DEFAULT 40
#define M_DEFAULT 43
#endif
#ifndef N
#define N N_DEFAULT
#endif
#ifndef M
#define M M_DEFAULT
#endif

static void kernel_tridiagonal(int n, int m, DATA_TYPE a[restrict n][m], DATA_TYPE b[restrict n][m],
                               DATA_TYPE c[restrict n][m], DATA_TYPE d[restrict n][m])
{
#pragma scop
  for (int j = 0; j < m; j++) {
    c[0][j] /= b[0][j];
    d[0][j] /= b[0][j];
    for (int i = 1; i < n; i++) {
      DATA_TYPE w = 1 / (b[i][j] - a[i][j] * c[i - 1][j]);
      c[i][j] *= w;
      d[i][j] = (d[i][j] - a[i][j] * d[i - 1][j]) * w;
    }
    for (int i = n - 2; i >= 0; i--)
      d[i][j] -= c[i][j] * d[i + 1][j];
  }
#pragma endscop
}

int main(int argc, char **argv)
{
  int n = SIZE(N), m = SIZE(M);
  size_t count = (size_t)n * (size_t)m;
  DATA_TYPE (*a)[m] = harness_alloc(count, sizeof(DATA_TYPE));
  DATA_TYPE (*b)[m] = harness_alloc(count, sizeof(DATA_TYPE));
  DATA_TYPE (*c)[m] = harness_alloc(count, sizeof(DATA_TYPE));
  DATA_TYPE (*d)[m] = harness_alloc(count, sizeof(DATA_TYPE));
  harness_open(argc, argv);
  for (int rep = 0; rep < REPS; rep++) {
    for (size_t k = 0; k < count; k++) {
      ((DATA_TYPE *)a)[k] = (DATA_TYPE)harness_unit(1, k);
      ((DATA_TYPE *)b)[k] = (DATA_TYPE)(4 + harness_unit(2, k));
      ((DATA_TYPE *)c)[k] = (DATA_TYPE)harness_unit(3, k);
      ((DATA_TYPE *)d)[k] = (DATA_TYPE)harness_unit(4, k);
    }
    harness_start();
    kernel_tridiagonal(n, m, a, b, c, d);
    harness_stop();
  }
  OUTPUT("c", (DATA_TYPE *)c, count);
  OUTPUT("d", (DATA_TYPE *)d, count);
  free(a);
  free(b);
  free(c);
  free(d);
  return harness_finish("tridiagonal");
}
