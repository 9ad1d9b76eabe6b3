/* Loop variables of the function that are read after the region. */
#include "harness.h"

#ifndef DATA_TYPE
#define DATA_TYPE double
#endif
#ifdef LARGE
#define N_DEFAULT 2000
#define M_DEFAULT 900
#else
#define N_DEFAULT 40
#define M_DEFAULT 11
#endif
#ifndef N
#define N N_DEFAULT
#endif
#ifndef M
#define M M_DEFAULT
#endif

static void kernel_restored(int n, int m, DATA_TYPE x[restrict n + m + 8])
{
  int i, j, k, l, q, lo = n - 5;
#pragma scop
  for (i = 2; i < n; i++)
    x[i] = 1;
  for (j = lo; j <= m; j += 3)
    x[j + 5] += 2;
  for (k = n - 1; k >= 0; k--)
    x[k] += 3;
  for (l = m; l > lo; l -= 2)
    x[l + 5] += 4;
  for (q = lo; 3 * q < 2 * m; q++)
    x[q + 5] += 5;
#pragma endscop
  x[0] += i;
  x[1] += 100 * j;
  x[2] += 10000 * k;
  x[3] += 1000000 * l;
  x[4] += 1e8 * q;
}

int main(int argc, char **argv)
{
  int n = SIZE(N);
  int m = SIZE(M);
  DATA_TYPE *x = harness_alloc((size_t)(n + m + 8), sizeof(DATA_TYPE));
  harness_open(argc, argv);
  for (int rep = 0; rep < REPS; rep++) {
    memset(x, 0, (size_t)(n + m + 8) * sizeof(DATA_TYPE));
    harness_start();
    kernel_restored(n, m, x);
    harness_stop();
  }
  OUTPUT("x", (DATA_TYPE *)x, (size_t)(n + m + 8));
  free(x);
  return harness_finish("restored");
}
