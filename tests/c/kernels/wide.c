/* Values of 64 bits that are made of `int`s: literals with a suffix, casts, constants of type `long`. */
#include "harness.h"

#ifdef LARGE
#define N_DEFAULT 100000
#else
#define N_DEFAULT 90
#endif
#ifndef N
#define N N_DEFAULT
#endif

enum { SHIFT = 40 };

static void kernel_wide(int n, long m, long v[restrict n], long w[restrict n], double d[restrict n], int c[restrict n])
{
  const long one = 1;
  const unsigned few = 3;
  const unsigned char byte = 200;
  long far = 0;
#pragma scop
  for (int i = 0; i < n; i++)
    v[i] = (long)n * n * 100000 + i;
  for (int i = 0; i < n; i++) {
    v[i] += 100000L * i * 30000;
    v[i] ^= 1L << 40;
    v[i] -= one << SHIFT;
    v[i] ^= (long)i * m * 4;
  }
#pragma endscop
#pragma scop
  for (int i = 0; i < n; i++) {
    v[i] += (i + 0L) * 100000000;
    v[i] += (long)i * 1000003000 % 1009;
    v[i] += -(i + 2147483647L);
  }
#pragma endscop
#pragma scop
  for (int i = 0; i < n; i++) {
    v[i] += 1L << (i % 40 + 10);
    v[i] += (i > 3 ? 1L : 0L) << 33;
    v[i] += (1LL << 35) + 2147483647L + i;
    v[i] -= (i + 0L) * 100000000;
    v[i] += (long)i * 1000003000 % 1009;
    v[i] ^= (long)i * m * 4;
    v[i] += -(i + 2147483647L) - (-2147483647L - i);
    v[i] += ((long)n << 31) >> 33;
    w[i] = i == 0 ? 1L << 60 : -(1L << 61) + n;
    w[i] += i * 20000 + n;
    w[i] += (few - 4) / 5 + (byte - 201) + (few - i) % 1000;
    d[i] = (double)((long)n * n * 1000000) + (long)i * 100000000 * 0.5;
    c[i] = (int)((long)i * 1000000007 % 1000) + i;
  }
  for (int i = 0; i < n; i++)
    for (int j = 0; j < i; j++)
      far += (long)i * 100000 * j - (j + 3000000000);
#pragma endscop
  /* Loop variables of 64 bits, since conditions have them. */
#pragma scop
  for (int i = 0; i < n; i++)
    w[i] += ((long)i * 100000000 < v[i]) + ((long)i * 100000000 < 4000000000 ? 7 : (long)i << 32);
  for (int i = 1; i < n; i++)
    if ((long)i * 100000000 < m)
      w[i] += w[i - 1] / 3 + far;
#pragma endscop
}

int main(int argc, char **argv)
{
  int n = SIZE(N);
  long *v = harness_alloc((size_t)n, sizeof(long));
  long *w = harness_alloc((size_t)n, sizeof(long));
  double *d = harness_alloc((size_t)n, sizeof(double));
  int *c = harness_alloc((size_t)n, sizeof(int));
  harness_open(argc, argv);
  for (int rep = 0; rep < REPS; rep++) {
    for (size_t k = 0; k < (size_t)n; k++)
      ((long *)w)[k] = harness_below(1, k, 41) - 20;
    harness_start();
    kernel_wide(n, 3000000000, v, w, d, c);
    harness_stop();
  }
  OUTPUT("v", (long *)v, (size_t)n);
  OUTPUT("w", (long *)w, (size_t)n);
  OUTPUT("d", (double *)d, (size_t)n);
  OUTPUT("c", (int *)c, (size_t)n);
  free(v);
  free(w);
  free(d);
  free(c);
  return harness_finish("wide");
}
