/* Rows declared above the nest that each iteration fills, as in multigrid codes, and memory that is filled and copied. */
#include "harness.h"

#ifndef DATA_TYPE
#define DATA_TYPE double
#endif
#ifdef LARGE
#define N_DEFAULT 500
#define M_DEFAULT 512
#else
#define N_DEFAULT 24
#define M_DEFAULT 19
#endif
#ifndef N
#define N N_DEFAULT
#endif
#ifndef M
#define M M_DEFAULT
#endif

static void kernel_scratch_rows(int n, int m, DATA_TYPE u[restrict n][m], DATA_TYPE r[restrict n][m],
                                DATA_TYPE *restrict x)
{
  DATA_TYPE s[514], t[514];
  int k = 0;
#pragma scop
  memset(r, 0, sizeof(DATA_TYPE) * n * m);
  for (int i = 1; i < n - 1; i++) {
    for (int j = 0; j < m; j++) {
      s[j] = u[i - 1][j] + u[i + 1][j];
      t[j] = u[i][j] - s[j] * 0.5;
    }
    for (int j = 1; j < m - 1; j++)
      r[i][j] = s[j] + t[j - 1] + t[j + 1];
  }
  memcpy(x, u, m * n * sizeof(DATA_TYPE));
  while (k < n) {
    for (int j = 0; j < m; j++)
      x[k * m + j] += r[k][j];
    k++;
  }
#pragma endscop
}

int main(int argc, char **argv)
{
  int n = SIZE(N);
  int m = SIZE(M);
  size_t count = (size_t)n * (size_t)m;
  DATA_TYPE(*u)[m] = harness_alloc(count, sizeof(DATA_TYPE));
  DATA_TYPE(*r)[m] = harness_alloc(count, sizeof(DATA_TYPE));
  DATA_TYPE *x = harness_alloc(count, sizeof(DATA_TYPE));
  if (m > 512)
    return 2;
  harness_open(argc, argv);
  for (int rep = 0; rep < REPS; rep++) {
    for (size_t k = 0; k < count; k++)
      u[k / m][k % m] = (DATA_TYPE)harness_unit(1, k);
    harness_start();
    kernel_scratch_rows(n, m, u, r, x);
    harness_stop();
  }
  OUTPUT("r", (DATA_TYPE *)r, count);
  OUTPUT("x", x, count);
  free(u);
  free(r);
  free(x);
  return harness_finish("scratch-rows");
}
