/* Conditions of every form, on loop variables and sizes. */
#include "harness.h"

#ifndef DATA_TYPE
#define DATA_TYPE double
#endif
#ifdef LARGE
#define N_DEFAULT 500
#define M_DEFAULT 500
#else
#define N_DEFAULT 20
#define M_DEFAULT 25
#endif
#ifndef N
#define N N_DEFAULT
#endif
#ifndef M
#define M M_DEFAULT
#endif

static void kernel_guards(int n, int m, DATA_TYPE A[restrict n][m])
{
  int lo = m - 9;
#pragma scop
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++) {
      if (i == j)
        A[i][j] = 1;
      else if (i < j && j != m - 1)
        A[i][j] = 2;
      else
        A[i][j] *= 3;
      if (!(i > 2 || j <= 1))
        A[i][j] += 4;
      if ((i + j) % 2)
        A[i][j] += 5;
      if ((i - j) % 3 == 1)
        A[i][j] *= 6;
      if ((i - j) % 3 == -1)
        A[i][j] -= 6.5;
      if ((i - j) / 2 < -1)
        A[i][j] += 7;
      if ((lo - i) / 3 >= -1 && lo % 2 == 0)
        A[i][j] += 8;
      if (i > j ? i < 5 : j < 5)
        A[i][j] += 9;
      if (2 * i + 1 >= j / 3)
        A[i][j] += 10;
      if (i) {
        if (j)
          A[i][j] += 11;
        else
          A[i][j] += 12;
      }
      if (i - j > lo || i < lo)
        A[i][j] += 13;
    }
#pragma endscop
}

int main(int argc, char **argv)
{
  int n = SIZE(N);
  int m = SIZE(M);
  DATA_TYPE (*A)[m] = harness_alloc((size_t)n * (size_t)m, sizeof(DATA_TYPE));
  harness_open(argc, argv);
  for (int rep = 0; rep < REPS; rep++) {
    for (size_t k = 0; k < (size_t)n * (size_t)m; k++)
      ((DATA_TYPE *)A)[k] = (DATA_TYPE)harness_unit(1, k);
    harness_start();
    kernel_guards(n, m, A);
    harness_stop();
  }
  OUTPUT("A", (DATA_TYPE *)A, (size_t)n * (size_t)m);
  free(A);
  return harness_finish("guards");
}
