/* Every form of a loop header, with bounds that may be negative or crossed. */
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

static void kernel_loop_forms(int n, int m, DATA_TYPE x[restrict 200 + 3 * n + 3 * m])
{
  int lo = n - 9, i;
  long k;
  double *restrict y = x + 100 + n + m;
#pragma scop
  for (i = 0; i <= n - 1; ++i)
    y[i] += 1;
  for (i = lo; n > i; i += 2)
    y[i] += 2 + i;
  for (i = 1; i + 1 < n; i = i + 3)
    y[i] += 3 * y[i + 1];
  for (i = 0; 2 * i < n; i = 1 + i)
    y[2 * i] += 4;
  for (i = -3; 3 * i <= n - 2 * m; i++)
    y[i] += 5 + i;
  for (i = n - 1; i >= lo; i--)
    y[i] += 0.5 * y[i + 1];
  for (i = n; i > lo; i -= 4)
    y[i - 1] += 7 + i;
  for (i = n - 1; 0 <= i; --i)
    y[n - 1 - i] += y[i];
  for (i = n; 2 * i >= m; i += -1)
    y[i] -= 8 * y[i + 1];
  for (k = lo; k < n && k < m + 1L; k++)
    y[k] += 9 * k;
  for (k = n - 1; k >= lo && k >= 2; k -= 3)
    y[k] += 10;
  for (int j = 0; j != n; j++)
    y[j] += 11;
  for (short s = 10; s > 0; s--)
    y[s] = y[s - 1] + 12;
  for (i = lo; i < lo / 2; i++)
    for (int j = i / 4; j < (i + 13) / 3; j++)
      y[j] += 13 * y[j - 1] - i % 4;
  for (i = lo; i < (n < m ? n : m); i++)
    y[i] = y[i] * 0.5 + 14;
  for (i = 0; i < (n >> 1) + (m << 1); i++)
    y[i & 7] += y[(i - 5) >> 1];
  for (unsigned u = 12; u > 3; u -= 1)
    y[u] += u + y[u - 1];
#pragma endscop
}

int main(int argc, char **argv)
{
  int n = SIZE(N);
  int m = SIZE(M);
  DATA_TYPE *x = harness_alloc((size_t)(200 + 3 * n + 3 * m), sizeof(DATA_TYPE));
  harness_open(argc, argv);
  for (int rep = 0; rep < REPS; rep++) {
    memset(x, 0, (size_t)(200 + 3 * n + 3 * m) * sizeof(DATA_TYPE));
    harness_start();
    kernel_loop_forms(n, m, x);
    harness_stop();
  }
  OUTPUT("x", (DATA_TYPE *)x, (size_t)(200 + 3 * n + 3 * m));
  free(x);
  return harness_finish("loop-forms");
}
