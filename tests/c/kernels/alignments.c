/* Tables over two sequences in which each element needs those beside, above and before it: edit distance, local alignment, time warping. */
#include "harness.h"

#ifndef DATA_TYPE
#define DATA_TYPE double
#endif
#ifdef LARGE
#define N_DEFAULT 2000
#define M_DEFAULT 2000
#else
#define N_DEFAULT 50
#define M_DEFAULT 60
#endif
#ifndef N
#define N N_DEFAULT
#endif
#ifndef M
#define M M_DEFAULT
#endif

#define MIN(a, b) ((a) < (b) ? (a) : (b))
#define MAX(a, b) ((a) > (b) ? (a) : (b))

static void kernel_alignments(int n, int m, int a[restrict n], int b[restrict m], DATA_TYPE x[restrict n],
                              DATA_TYPE y[restrict m], int D[restrict n + 1][m + 1], int H[restrict n + 1][m + 1],
                              DATA_TYPE W[restrict n + 1][m + 1])
{
#pragma scop
  for (int i = 1; i <= n; i++)
    for (int j = 1; j <= m; j++)
      D[i][j] = MIN(MIN(D[i - 1][j] + 1, D[i][j - 1] + 1), D[i - 1][j - 1] + (a[i - 1] != b[j - 1]));
  for (int i = 1; i <= n; i++)
    for (int j = 1; j <= m; j++)
      H[i][j] = MAX(MAX(0, H[i - 1][j - 1] + (a[i - 1] == b[j - 1] ? 3 : -3)),
                    MAX(H[i - 1][j] - 2, H[i][j - 1] - 2));
  for (int i = 1; i <= n; i++)
    for (int j = 1; j <= m; j++)
      W[i][j] = (x[i - 1] - y[j - 1]) * (x[i - 1] - y[j - 1]) + MIN(MIN(W[i - 1][j], W[i][j - 1]), W[i - 1][j - 1]);
#pragma endscop
}

int main(int argc, char **argv)
{
  int n = SIZE(N);
  int m = SIZE(M);
  size_t all = (size_t)(n + 1) * (size_t)(m + 1);
  int *a = harness_alloc((size_t)n, sizeof(int));
  int *b = harness_alloc((size_t)m, sizeof(int));
  DATA_TYPE *x = harness_alloc((size_t)n, sizeof(DATA_TYPE));
  DATA_TYPE *y = harness_alloc((size_t)m, sizeof(DATA_TYPE));
  int *D = harness_alloc(all, sizeof(int));
  int *H = harness_alloc(all, sizeof(int));
  DATA_TYPE *W = harness_alloc(all, sizeof(DATA_TYPE));
  harness_open(argc, argv);
  for (int rep = 0; rep < REPS; rep++) {
    for (size_t k = 0; k < (size_t)n; k++) {
      a[k] = harness_below(1, k, 4);
      x[k] = (DATA_TYPE)harness_unit(3, k);
    }
    for (size_t k = 0; k < (size_t)m; k++) {
      b[k] = harness_below(2, k, 4);
      y[k] = (DATA_TYPE)harness_unit(4, k);
    }
    for (size_t k = 0; k < all; k++) {
      size_t i = k / (size_t)(m + 1), j = k % (size_t)(m + 1);
      D[k] = (int)(i + j);
      H[k] = 0;
      W[k] = (DATA_TYPE)(i * j == 0 && i + j > 0 ? 1000000 : 0);
    }
    harness_start();
    kernel_alignments(n, m, a, b, x, y, (void *)D, (void *)H, (void *)W);
    harness_stop();
  }
  OUTPUT("D", D, all);
  OUTPUT("H", H, all);
  OUTPUT("W", W, all);
  free(a);
  free(b);
  free(x);
  free(y);
  free(D);
  free(H);
  free(W);
  return harness_finish("alignments");
}
