/* Loops that count in their conditions, and several variables at once. */
#include "harness.h"
#include <stddef.h>

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

static void kernel_counted(int n, int m, DATA_TYPE x[restrict 8 * n + 8 * m + 16], DATA_TYPE A[restrict n + 1][n + 1],
                           long left[restrict 16])
{
  unsigned un = n, u, w, w2;
  size_t sm = m, z, z2;
  int i, j, k, i2;
  long p, p2;
  DATA_TYPE s;
#pragma scop
  /* Down to 0, without a sign and with one. */
  for (unsigned a = un; a-- > 0;)
    x[a] += 1 + a;
  for (size_t a = sm; a-- > 0;)
    for (unsigned b = un; b-- != 0;)
      x[a + b] = 0.5 * x[a + b + 1] + a - b;
  for (size_t a = sm; a--;)
    x[a] += 0.25 * x[a + 1];
  for (int a = n; a--;)
    x[a + 1] -= x[a];
  for (int a = n; --a >= 0;)
    x[a] += 0.125 * a;
  for (int a = n; ((a--)) > 0;)
    x[a] -= 0.25 * a;
  for (int a = n; (--(a)) >= 0;)
    x[a] += 0.125 * x[a + 1];
  for (int a = n; --a > 2;)
    x[a] -= 0.125 * x[a - 1];
  for (int a = n; a-- > m;)
    x[a] += 3;
  for (int a = n; a-- >= 3;)
    x[a] += 4;
  for (int a = 0; a++ < n;)
    x[a] += 5 * x[a - 1];
  for (unsigned a = 0; a++ < un;)
    x[a] += 0.0625 * a;
  for (int a = -1; ++a < n;)
    x[a] *= 0.5;
  for (u = un; u-- > 0;)
    x[u] += 6;
  for (z = sm; z-- > 0;)
    x[z] += 7;
  for (i = n; i-- > 0;)
    x[i] += 8;
  /* Several at once. */
  for (int a = 0, b = n - 1; a < b; a++, b--) {
    x[a] += x[b];
    x[b] = x[a] * 0.5 + b;
  }
  for (int a = 0, b = n; a <= b; b -= 3, ++a)
    x[b] += a - b;
  for (j = 0, k = 3; j < n; j += 2, k += 6)
    x[k] += 0.5 * j + k;
  for (int a = n - 1, b = 5; a >= 0; a--, b += 2)
    x[b] += x[a];
  for (int a = 0, b = n; a < b; a += 3, b--)
    x[b] -= 0.5 * x[a];
  for (int a = 0, b = 1; a < n; a += 2, b++)
    x[b] -= 0.5 * x[a];
  for (unsigned a = 0, b = un; a < un; a++, b--)
    x[b] += 0.25 * a - b;
  for (w = 0, p = 2 * n; w < un; p = p - 2, w++)
    x[p] += 1;
  for (int a = 0, end = n + m; a < end; a++)
    x[a] += 2;
  for (i2 = 0, s = 3; i2 < n; s += 0.5 * i2, i2++)
    x[i2] += s;
  for (int a = 0; a < n; a++)
    for (int b = 0, c = a + m; b < m; b++, c += 2)
      x[c] += 0.5 * x[b] + c;
  for (int a = 0; a < n; a++)
    for (int b = n, c = a; b-- > a; )
      A[c][b] += A[b][a] + c;
  for (int a = 0; a < n - a; a++)
    A[a][n - a] = A[n - a][a];
  for (z2 = un; z2-- > 0;)
    x[z2] += 1;
  for (w2 = 0, p2 = un; w2 < un; p2 -= 2, w2++)
    x[w2] += p2;
  left[9] = n, left[10] = m;
#pragma endscop
  left[0] = u, left[1] = (long)z, left[2] = i, left[3] = j, left[4] = k, left[5] = w, left[6] = p, left[7] = i2;
  left[8] = (long)z2, left[11] = p2, left[12] = w2;
}

int main(int argc, char **argv)
{
  int n = SIZE(N);
  int m = SIZE(M);
  size_t count = 8 * n + 8 * m + 16, side = n + 1;
  DATA_TYPE *x = harness_alloc(count, sizeof(DATA_TYPE));
  DATA_TYPE(*A)[side] = harness_alloc(side * side, sizeof(DATA_TYPE));
  long left[16] = {0};
  harness_open(argc, argv);
  for (int rep = 0; rep < REPS; rep++) {
    memset(x, 0, count * sizeof(DATA_TYPE));
    for (size_t i = 0; i < side; i++)
      for (size_t j = 0; j < side; j++)
        A[i][j] = (DATA_TYPE)((i * j + 3) % side) / side;
    harness_start();
    kernel_counted(n, m, x, A, left);
    harness_stop();
  }
  OUTPUT("x", (DATA_TYPE *)x, count);
  OUTPUT("A", (DATA_TYPE *)A, side *side);
  for (int i = 0; i < 16; i++)
    x[i] = left[i];
  OUTPUT("left", x, 16);
  free(A);
  free(x);
  return harness_finish("counted");
}
