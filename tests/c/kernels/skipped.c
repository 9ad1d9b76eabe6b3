/* Bodies that end early: `continue`, and macros of several statements with and without `break`. */
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

#define BOTH(a, b) do { a; b; } while (0)
#define NOTHING do { } while (0)
#define SWAP(a, b) do { DATA_TYPE t = a; a = b; b = t; } while (0)
#define COUNT(c) ((c)++)
#define SET(a, b) ((a) = (b))
#define CLAMP(v, low, high) do { if (v < low) { v = low; break; } if (v > high) v = high; } while (0)

static void kernel_skipped(int n, int m, DATA_TYPE x[restrict n + 2], DATA_TYPE y[restrict n + 2],
                           DATA_TYPE A[restrict n + 1][n + 1])
{
  DATA_TYPE t = 0, low = 2;
  int count = 0, kind = 7;
#pragma scop
  for (int i = 0; i < n; i++) {
    if (i == m)
      continue;
    x[i] += 1;
    y[i] = x[i + 1] + i;
  }
  for (int i = 0; i < n; i++) {
    for (int j = 0; j < n; j++) {
      if (i == j || j > m)
        continue;
      if ((i + j) % 3 == 0) {
        A[i][j] += 1;
        continue;
      }
      A[i][j] = A[j][i] * 0.5 + 1;
    }
    if (i < 2)
      continue;
    x[i] += A[i][0];
  }
  for (int i = 0; i < n; i++) {
    DATA_TYPE d = x[i] - y[i];
    if (d < 0) {
      DATA_TYPE t = d * d;
      y[i] += t;
      continue;
    } else {
      DATA_TYPE t = 3;
      x[i] += t;
    }
    y[i] += d + t;
    if (d > 3)
      continue;
    count++;
  }
  for (int i = 0; i < n; i++) {
    if (!(x[i] != x[i]))
      ;
    else
      continue;
    if (x[i] > 1) {
      if (y[i] > x[i])
        continue;
      else {
        y[i] += 1;
        continue;
      }
    }
    x[i] *= 0.5;
    continue;
  }
  for (int i = 0; i <= n; i++) {
    if ((i > 0 && x[i - 1] > 3) || i == n)
      continue;
    if (i > 1 && A[i - 1][0] > A[i][0]) {
      y[i] -= 1;
      continue;
    }
    x[i] += y[i] + 3;
  }
  /* What the condition reads is written. */
  for (int i = 1; i < n; i++) {
    if (x[i] < x[i - 1])
      continue;
    x[i] = 0.5 * x[i - 1];
    x[i - 1] += low;
  }
  for (int i = 0; i < n; i++) {
    BOTH(x[i] += 1, y[i] -= 1);
    NOTHING;
    SWAP(x[i], y[i]);
    if (i > 3)
      BOTH(x[i] -= 2, NOTHING);
    else
      NOTHING;
    CLAMP(y[i], low, 9);
    SET(kind, i % 3);
    COUNT(kind);
    x[i] += kind;
    do
      A[i][i] += 1, x[i] += A[i][i];
    while (0);
  }
#pragma endscop
  x[n] = count;
}

int main(int argc, char **argv)
{
  int n = SIZE(N);
  int m = SIZE(M);
  size_t count = n + 2, side = n + 1;
  DATA_TYPE *x = harness_alloc(count, sizeof(DATA_TYPE)), *y = harness_alloc(count, sizeof(DATA_TYPE));
  DATA_TYPE(*A)[side] = harness_alloc(side * side, sizeof(DATA_TYPE));
  harness_open(argc, argv);
  for (int rep = 0; rep < REPS; rep++) {
    for (size_t i = 0; i < side; i++)
      for (size_t j = 0; j < side; j++)
        A[i][j] = (DATA_TYPE)((i * j + 3) % side) / side;
    for (size_t i = 0; i < count; i++)
      x[i] = (i * 7) % 5, y[i] = (i * 5) % 7;
    harness_start();
    kernel_skipped(n, m, x, y, A);
    harness_stop();
  }
  OUTPUT("x", x, count);
  OUTPUT("y", y, count);
  OUTPUT("A", (DATA_TYPE *)A, side *side);
  free(A);
  free(y);
  free(x);
  return harness_finish("skipped");
}
