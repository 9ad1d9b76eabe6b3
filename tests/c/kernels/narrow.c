/* Integers of all widths and signs: promotion, conversion in both directions, assignments with an operation, quotients, remainders, shifts and
   comparisons without a sign, a checksum and a hash of each row. */
#include "harness.h"

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

static void kernel_narrow(int n, int m, unsigned short limit, unsigned char b[restrict n][m], signed char s[restrict n][m],
                          short h[restrict n][m], unsigned short u[restrict n][m], unsigned x[restrict n][m],
                          unsigned long y[restrict n][m], char c[restrict n][m], int z[restrict n][m], double d[restrict n][m],
                          unsigned sum[restrict n], unsigned long hash[restrict n], unsigned char parity[restrict n])
{
#pragma scop
  for (int i = 0; i < n; i++) {
    unsigned low = 1, high = 0;
    sum[i] = 0;
    hash[i] = 14695981039346656037ul;
    parity[i] = 0;
    for (int j = 0; j < m; j++) {
      signed char t = b[i][j] - 100;
      b[i][j] += s[i][j];
      b[i][j]--;
      s[i][j] -= 3 * t;
      s[i][j] *= b[i][j];
      h[i][j] = h[i][j] * b[i][j] + t;
      h[i][j] &= 1023;
      h[i][j] <<= b[i][j] & 3;
      u[i][j] *= u[i][j] & 255;
      u[i][j] |= b[i][j] << 8;
      u[i][j] = u[i][j] > limit ? u[i][j] % limit : u[i][j] + 1;
      x[i][j] = x[i][j] / 7 + x[i][j] % 1000u * s[i][j] - (x[i][j] >> 3 ^ ~x[i][j]);
      x[i][j] += x[i][j] < s[i][j] ? i : -j;
      x[i][j] -= h[i][j] > s[i][j];
      y[i][j] = -y[i][j] / 3 + (y[i][j] >> 5) * x[i][j] - u[i][j];
      y[i][j] ^= y[i][j] << 13;
      y[i][j] %= x[i][j] / 2 + 1ul;
      c[i][j] = -c[i][j] ^ b[i][j];
      if (c[i][j] < 0) c[i][j] /= 2;
      z[i][j] = x[i][j];
      z[i][j] += u[i][j] - (int)(x[i][j] % 91);
      z[i][j] = z[i][j] / 2 > x[i][j] ? c[i][j] : z[i][j] - 5u;
      d[i][j] = x[i][j] * 0.5 + (double)y[i][j] + b[i][j] / 4 - s[i][j];
      d[i][j] += (unsigned char)(d[i][j] / 1e25) + (unsigned)(u[i][j] * 3.75) + !b[i][j];
      low = (low + b[i][j]) % 65521;
      high = (high + low) % 65521;
      hash[i] ^= b[i][j];
      hash[i] *= 1099511628211ul;
      parity[i] ^= b[i][j];
    }
    sum[i] = high << 16 | low;
  }
#pragma endscop
}

int main(int argc, char **argv)
{
  int n = SIZE(N), m = SIZE(M);
  size_t count = (size_t)n * (size_t)m;
  unsigned char (*b)[m] = harness_alloc(count, 1);
  signed char (*s)[m] = harness_alloc(count, 1);
  short (*h)[m] = harness_alloc(count, sizeof(short));
  unsigned short (*u)[m] = harness_alloc(count, sizeof(short));
  unsigned (*x)[m] = harness_alloc(count, sizeof(unsigned));
  unsigned long (*y)[m] = harness_alloc(count, sizeof(unsigned long));
  char (*c)[m] = harness_alloc(count, 1);
  int (*z)[m] = harness_alloc(count, sizeof(int));
  double (*d)[m] = harness_alloc(count, sizeof(double));
  unsigned *sum = harness_alloc((size_t)n, sizeof(unsigned));
  unsigned long *hash = harness_alloc((size_t)n, sizeof(unsigned long));
  unsigned char *parity = harness_alloc((size_t)n, 1);
  harness_open(argc, argv);
  for (int rep = 0; rep < REPS; rep++) {
    for (size_t k = 0; k < count; k++) {
      ((unsigned char *)b)[k] = (unsigned char)harness_bits(1, k);
      ((signed char *)s)[k] = (signed char)harness_bits(2, k);
      ((short *)h)[k] = (short)(harness_below(3, k, 16384) - 8192);
      ((unsigned short *)u)[k] = (unsigned short)harness_bits(4, k);
      ((unsigned *)x)[k] = (unsigned)harness_bits(5, k);
      ((unsigned long *)y)[k] = (unsigned long)harness_bits(6, k);
      ((char *)c)[k] = (char)harness_bits(7, k);
    }
    harness_start();
    kernel_narrow(n, m, 40000, b, s, h, u, x, y, c, z, d, sum, hash, parity);
    harness_stop();
  }
  OUTPUT("b", (unsigned char *)b, count);
  OUTPUT("s", (signed char *)s, count);
  OUTPUT("h", (short *)h, count);
  OUTPUT("u", (unsigned short *)u, count);
  OUTPUT("x", (unsigned *)x, count);
  OUTPUT("y", (unsigned long *)y, count);
  OUTPUT("c", (unsigned char *)c, count);
  OUTPUT("z", (int *)z, count);
  OUTPUT("d", (double *)d, count);
  OUTPUT("sum", sum, (size_t)n);
  OUTPUT("hash", hash, (size_t)n);
  OUTPUT("parity", parity, (size_t)n);
  free(b), free(s), free(h), free(u), free(x), free(y), free(c), free(z), free(d), free(sum), free(hash), free(parity);
  return harness_finish("narrow");
}
