/* Bits of integers: masks, shifts and a hash of each row, of 32 and 64 bits. */
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

static void kernel_bits(int n, int m, int a[restrict n][m], int b[restrict n][m], long long hash[restrict n])
{
#pragma scop
  for (int i = 0; i < n; i++) {
    hash[i] = 14695981;
    for (int j = 0; j < m; j++) {
      b[i][j] = (a[i][j] >> 3 & 255) + ((a[i][j] & 7) << 2 | 1) - (~a[i][j] ^ 21 << (j & 3));
      hash[i] ^= a[i][j];
      hash[i] = (hash[i] << 5) % 16777619 | (a[i][j] & 1);
      b[i][j] &= 0xffff - (a[i][j] % 3 == (a[i][j] & 1));
      b[i][j] >>= 1;
    }
  }
#pragma endscop
}

int main(int argc, char **argv)
{
  int n = SIZE(N), m = SIZE(M);
  size_t count = (size_t)n * (size_t)m;
  int (*a)[m] = harness_alloc(count, sizeof(int));
  int (*b)[m] = harness_alloc(count, sizeof(int));
  long long *hash = harness_alloc((size_t)n, sizeof(long long));
  harness_open(argc, argv);
  for (int rep = 0; rep < REPS; rep++) {
    for (size_t k = 0; k < count; k++)
      ((int *)a)[k] = harness_below(1, k, 1 << 20) - (1 << 19);
    harness_start();
    kernel_bits(n, m, a, b, hash);
    harness_stop();
  }
  OUTPUT("b", (int *)b, count);
  OUTPUT("hash", hash, (size_t)n);
  free(a);
  free(b);
  free(hash);
  return harness_finish("bits");
}
