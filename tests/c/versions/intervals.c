/* Dynamic programs over intervals, whose steps go in blocks: finished tiles first. */
#include <stdio.h>
#include <string.h>

#define MOST 200
#define MIN(a, b) ((a) < (b) ? (a) : (b))
#define MAX(a, b) ((a) >= (b) ? (a) : (b))

static int table[MOST * MOST], bases[MOST + 1];
static long costs[MOST * MOST], extents[MOST + 1];

/* Pairs of bases. */
static void fold(int n, int seq[restrict n], int t[restrict n][n])
{
#pragma scop
  for (int i = n - 1; i >= 0; i--)
    for (int j = i + 1; j < n; j++) {
      t[i][j] = MAX(t[i][j], t[i][j - 1]);
      t[i][j] = MAX(t[i][j], t[i + 1][j]);
      if (i < j - 1)
        t[i][j] = MAX(t[i][j], t[i + 1][j - 1] + (seq[i] + seq[j] == 3 ? 1 : 0));
      for (int k = i + 1; k < j; k++)
        t[i][j] = MAX(t[i][j], t[i][k] + t[k + 1][j]);
    }
#pragma endscop
}

/* The order of a chain of products, which begins with a bound. */
static void chain(int n, long m[restrict n][n], long p[restrict n + 1])
{
#pragma scop
  for (int i = n - 1; i >= 0; i--)
    for (int j = i + 1; j < n; j++) {
      m[i][j] = 1000000000000000;
      for (int k = i; k < j; k++) {
        long q = m[i][k] + m[k + 1][j] + p[i] * p[k + 1] * p[j + 1];
        if (q < m[i][j])
          m[i][j] = q;
      }
    }
#pragma endscop
}

/* An update behind the steps, which later steps read. */
static void search(int n, long c[restrict n][n], long w[restrict n])
{
#pragma scop
  for (int i = n - 1; i >= 0; i--)
    for (int j = i + 2; j < n; j++) {
      c[i][j] = 1000000000000000;
      for (int k = i + 1; k < j; k++)
        c[i][j] = MIN(c[i][j], c[i][k] + c[k][j]);
      c[i][j] = c[i][j] + w[j] - w[i];
    }
#pragma endscop
}

static unsigned long sum(const void *data, size_t bytes)
{
  const unsigned char *at = data;
  unsigned long hash = 1469598103934665603ul;
  for (size_t i = 0; i < bytes; i++)
    hash = (hash ^ at[i]) * 1099511628211ul;
  return hash;
}

int main(void)
{
  const int sizes[] = {0, 1, 2, 3, 31, 33, 48, 49, 64, 80, 81, 97, 128, 131, 200};
  for (int s = 0; s < (int)(sizeof sizes / sizeof *sizes); s++) {
    int n = sizes[s];
    memset(table, 0, sizeof table);
    memset(costs, 0, sizeof costs);
    for (int i = 0; i <= MOST; i++) {
      bases[i] = i * 7 % 11 % 4;
      extents[i] = 1 + i * 17 % 29;
    }
    fold(n, bases, (int (*)[n])table);
    printf("%d %lx", n, sum(table, sizeof table));
    chain(n, (long (*)[n])costs, extents);
    printf(" %lx", sum(costs, sizeof costs));
    memset(costs, 0, sizeof costs);
    search(n, (long (*)[n])costs, extents);
    printf(" %lx\n", sum(costs, sizeof costs));
  }
  return 0;
}
