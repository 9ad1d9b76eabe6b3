/* Dynamic programs: tables whose entries come from entries before them. */
#include "driver.h"

#define MAX(a, b) ((a) > (b) ? (a) : (b))
#define MIN(a, b) ((a) < (b) ? (a) : (b))

void longest_common(int *c, const unsigned char *x, const unsigned char *y, int m, int n)
{
#pragma scop
  int i, j;
  for (i = 0; i <= m; i++)
    c[i * (n + 1)] = 0;
  for (j = 0; j <= n; j++)
    c[j] = 0;
  for (i = 1; i <= m; i++)
    for (j = 1; j <= n; j++)
      if (x[i - 1] == y[j - 1])
        c[i * (n + 1) + j] = c[(i - 1) * (n + 1) + j - 1] + 1;
      else
        c[i * (n + 1) + j] = MAX(c[(i - 1) * (n + 1) + j], c[i * (n + 1) + j - 1]);
#pragma endscop
}
RUN(longest_common, 300, longest_common(I(0), B(0), B(1), n, n))

void edit_distance(int *d, const unsigned char *s, const unsigned char *t, int m, int n)
{
  int w = n + 1;
#pragma scop
  for (int i = 0; i <= m; i++)
    d[i * w] = i;
  for (int j = 0; j <= n; j++)
    d[j] = j;
  for (int i = 1; i <= m; i++) {
    for (int j = 1; j <= n; j++) {
      int cost = s[i - 1] == t[j - 1] ? 0 : 1;
      int best = d[(i - 1) * w + j] + 1;
      if (d[i * w + j - 1] + 1 < best)
        best = d[i * w + j - 1] + 1;
      if (d[(i - 1) * w + j - 1] + cost < best)
        best = d[(i - 1) * w + j - 1] + cost;
      d[i * w + j] = best;
    }
  }
#pragma endscop
}
RUN(edit_distance, 300, edit_distance(I(0), B(0), B(1), n, n))

void floyd(int *path, int n)
{
#pragma scop
  for (int k = 0; k < n; k++)
    for (int i = 0; i < n; i++)
      for (int j = 0; j < n; j++)
        if (path[i * n + k] + path[k * n + j] < path[i * n + j])
          path[i * n + j] = path[i * n + k] + path[k * n + j];
#pragma endscop
}
RUN(floyd, 150, floyd(I(0), n))

void floyd_rows(double **path, int n)
{
#pragma scop
  for (int k = 0; k < n; k++)
    for (int i = 0; i < n; i++)
      for (int j = 0; j < n; j++)
        path[i][j] = MIN(path[i][j], path[i][k] + path[k][j]);
#pragma endscop
}
RUN(floyd_rows, 150, floyd_rows(ROWS(0), n))

void matrix_chain(double *m, double *p, int n)
{
#pragma scop
  for (int i = 0; i < n; i++)
    m[i * n + i] = 0.0;
  for (int l = 2; l <= n; l++)
    for (int i = 0; i <= n - l; i++) {
      int j = i + l - 1;
      m[i * n + j] = 1e300;
      for (int k = i; k < j; k++) {
        double q = m[i * n + k] + m[(k + 1) * n + j] + p[i] * p[k + 1] * p[j + 1];
        if (q < m[i * n + j])
          m[i * n + j] = q;
      }
    }
#pragma endscop
}
RUN(matrix_chain, 120, matrix_chain(D(0), D(1), n))

void nussinov(int *table, const unsigned char *seq, int n)
{
#pragma scop
  for (int i = n - 1; i >= 0; i--) {
    for (int j = i + 1; j < n; j++) {
      if (j - 1 >= 0)
        table[i * n + j] = MAX(table[i * n + j], table[i * n + j - 1]);
      if (i + 1 < n)
        table[i * n + j] = MAX(table[i * n + j], table[(i + 1) * n + j]);
      if (j - 1 >= 0 && i + 1 < n) {
        if (i < j - 1)
          table[i * n + j] = MAX(table[i * n + j], table[(i + 1) * n + j - 1] + (seq[i] + seq[j] == 255 ? 1 : 0));
        else
          table[i * n + j] = MAX(table[i * n + j], table[(i + 1) * n + j - 1]);
      }
      for (int k = i + 1; k < j; k++)
        table[i * n + j] = MAX(table[i * n + j], table[i * n + k] + table[(k + 1) * n + j]);
    }
  }
#pragma endscop
}
RUN(nussinov, 120, nussinov(I(0), B(0), n))

void smith_waterman(int *h, const unsigned char *a, const unsigned char *b, int m, int n, int gap)
{
#pragma scop
  for (int i = 1; i < m; i++)
    for (int j = 1; j < n; j++) {
      int match = h[(i - 1) * n + j - 1] + (a[i] == b[j] ? 2 : -1);
      int del = h[(i - 1) * n + j] - gap;
      int ins = h[i * n + j - 1] - gap;
      int s = match > del ? match : del;
      s = s > ins ? s : ins;
      h[i * n + j] = s > 0 ? s : 0;
    }
#pragma endscop
}
RUN(smith_waterman, 300, smith_waterman(I(0), B(0), B(1), n, n, 1))

void knapsack(double *best, const double *value, int items, int capacity)
{
#pragma scop
  for (int i = 0; i < items; i++)
    for (int w = capacity; w >= 3; w--)
      if (best[w - 3] + value[i] > best[w])
        best[w] = best[w - 3] + value[i];
#pragma endscop
}
RUN(knapsack, 300, knapsack(D(0), D(1), n, n))

void coin_change(long *ways, int coin, int n)
{
#pragma scop
  ways[0] = 1;
  for (int i = coin; i <= n; i++)
    ways[i] += ways[i - coin];
#pragma endscop
}
RUN(coin_change, 20000, coin_change(L(0), 3, n))

void triangle_paths(int *t, int n)
{
#pragma scop
  for (int i = n - 2; i >= 0; i--)
    for (int j = 0; j <= i; j++)
      t[i * n + j] += MAX(t[(i + 1) * n + j], t[(i + 1) * n + j + 1]);
#pragma endscop
}
RUN(triangle_paths, 300, triangle_paths(I(0), n))

void viterbi(double *score, const double *trans, const double *emit, int states, int steps)
{
#pragma scop
  for (int t = 1; t < steps; t++)
    for (int j = 0; j < states; j++) {
      double best = -1e300;
      for (int i = 0; i < states; i++) {
        double s = score[(t - 1) * states + i] + trans[i * states + j];
        best = s > best ? s : best;
      }
      score[t * states + j] = best + emit[t * states + j];
    }
#pragma endscop
}
RUN(viterbi, 120, viterbi(D(0), D(1), D(2), n, n))

void pascal(long **unused, long *c, int n)
{
#pragma scop
  for (int i = 0; i < n; i++) {
    c[i * n] = 1;
    for (int j = 1; j <= i; j++)
      c[i * n + j] = c[(i - 1) * n + j - 1] + (j == i ? 0 : c[(i - 1) * n + j]);
  }
#pragma endscop
  (void)unused;
}
RUN(pascal, 60, pascal(0, L(0), n))

void optimal_bst(double *e, double *w, const double *p, int n)
{
#pragma scop
  for (int l = 1; l < n; l++)
    for (int i = 0; i < n - l; i++) {
      int j = i + l;
      w[i * n + j] = w[i * n + j - 1] + p[j];
      e[i * n + j] = 1e300;
      for (int r = i; r <= j; r++) {
        double t = (r > i ? e[i * n + r - 1] : 0.0) + (r < j ? e[(r + 1) * n + j] : 0.0) + w[i * n + j];
        if (t < e[i * n + j])
          e[i * n + j] = t;
      }
    }
#pragma endscop
}
RUN(optimal_bst, 100, optimal_bst(D(0), D(1), D(2), n))

void warp(double *cost, const double *x, const double *y, int n, int m)
{
#pragma scop
  for (int i = 1; i < n; i++) {
    for (int j = 1; j < m; j++) {
      double d = fabs(x[i] - y[j]);
      cost[i * m + j] = d + fmin(cost[(i - 1) * m + j], fmin(cost[i * m + j - 1], cost[(i - 1) * m + j - 1]));
    }
  }
#pragma endscop
}
RUN(warp, 300, warp(D(0), D(1), D(2), n, n))
