/* Distances of codes in bits, the lowest and the highest bit that is set, and parities. */
#include "harness.h"

#ifdef LARGE
#define N_DEFAULT 4000
#define M_DEFAULT 256
#else
#define N_DEFAULT 61
#define M_DEFAULT 5
#endif
#ifndef N
#define N N_DEFAULT
#endif
#ifndef M
#define M M_DEFAULT
#endif

static void kernel_bits(int n, int m, const unsigned long long code[restrict n][m], const unsigned short s[restrict n],
                        int distance[restrict n][n], int ends[restrict n][5])
{
#pragma scop
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) {
      int d = 0;
      for (int k = 0; k < m; k++)
        d += __builtin_popcountll(code[i][k] ^ code[j][k]);
      distance[i][j] = d;
    }
  for (int i = 0; i < n; i++) {
    ends[i][0] = __builtin_ctz(s[i] | 256u);
    ends[i][1] = __builtin_clz(s[i] + 1);
    ends[i][2] = __builtin_parity(s[i]) + 2 * __builtin_popcount(~s[i]);
    ends[i][3] = __builtin_ffs(s[i]) - __builtin_ffsl(0);
    ends[i][4] = m > 0 ? __builtin_ctzll(code[i][0] | 1ull << 40) + __builtin_clzl(code[i][0] | 1) : 0;
  }
#pragma endscop
}

int main(int argc, char **argv)
{
  int n = SIZE(N), m = SIZE(M);
  unsigned long long (*code)[m] = harness_alloc((size_t)n * (size_t)m, sizeof(unsigned long long));
  unsigned short *s = harness_alloc((size_t)n, sizeof(unsigned short));
  int (*distance)[n] = harness_alloc((size_t)n * (size_t)n, sizeof(int));
  int (*ends)[5] = harness_alloc((size_t)n * 5, sizeof(int));
  harness_open(argc, argv);
  for (int rep = 0; rep < REPS; rep++) {
    for (size_t k = 0; k < (size_t)n * (size_t)m; k++)
      ((unsigned long long *)code)[k] = (unsigned long long)(harness_unit(1, k) * 18e18) & ~0ull << k % 50;
    for (size_t k = 0; k < (size_t)n; k++)
      s[k] = (unsigned short)(harness_unit(2, k) * 65536) & (unsigned short)(0xffff << k % 16);
    harness_start();
    kernel_bits(n, m, code, s, distance, ends);
    harness_stop();
  }
  OUTPUT("distance", (int *)distance, (size_t)n * (size_t)n);
  OUTPUT("ends", (int *)ends, (size_t)n * 5);
  free(code);
  free(s);
  free(distance);
  free(ends);
  return harness_finish("bit-counts");
}
