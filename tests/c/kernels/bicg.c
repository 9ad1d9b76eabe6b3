/* s = A^T r and q = A p. */
#include "harness.h"

#ifndef DATA_TYPE
#define DATA_TYPE double
#endif
#ifdef LARGE
#define M_DEFAULT 1900
#define N_DEFAULT 2100
#else
#define M_DEFAULT 38
#define N_DEFAULT 42
#endif
#ifndef M
#define M M_DEFAULT
#endif
#ifndef N
#define N N_DEFAULT
#endif

static void kernel_bicg(int m, int n, DATA_TYPE A[restrict n][m], DATA_TYPE s[restrict m],
                        DATA_TYPE q[restrict n], DATA_TYPE p[restrict m], DATA_TYPE r[restrict n])
{
#pragma scop
  for (int i = 0; i < m; i++)
    s[i] = 0;
  for (int i = 0; i < n; i++) {
    q[i] = 0;
    for (int j = 0; j < m; j++) {
      s[j] = s[j] + r[i] * A[i][j];
      q[i] = q[i] + A[i][j] * p[j];
    }
  }
#pragma endscop
}

int main(int argc, char **argv)
{
  int m = SIZE(M);
  int n = SIZE(N);
  DATA_TYPE (*A)[m] = harness_alloc((size_t)n * (size_t)m, sizeof(DATA_TYPE));
  DATA_TYPE *s = harness_alloc((size_t)m, sizeof(DATA_TYPE));
  DATA_TYPE *q = harness_alloc((size_t)n, sizeof(DATA_TYPE));
  DATA_TYPE *p = harness_alloc((size_t)m, sizeof(DATA_TYPE));
  DATA_TYPE *r = harness_alloc((size_t)n, sizeof(DATA_TYPE));
  harness_open(argc, argv);
  for (int rep = 0; rep < REPS; rep++) {
    for (size_t k = 0; k < (size_t)n * (size_t)m; k++)
      ((DATA_TYPE *)A)[k] = (DATA_TYPE)harness_unit(1, k);
    memset(s, 0, (size_t)m * sizeof(DATA_TYPE));
    memset(q, 0, (size_t)n * sizeof(DATA_TYPE));
    for (size_t k = 0; k < (size_t)m; k++)
      p[k] = (DATA_TYPE)harness_unit(4, k);
    for (size_t k = 0; k < (size_t)n; k++)
      r[k] = (DATA_TYPE)harness_unit(5, k);
    harness_start();
    kernel_bicg(m, n, A, s, q, p, r);
    harness_stop();
  }
  OUTPUT("s", (DATA_TYPE *)s, (size_t)m);
  OUTPUT("q", (DATA_TYPE *)q, (size_t)n);
  free(A);
  free(s);
  free(q);
  free(p);
  free(r);
  return harness_finish("bicg");
}
