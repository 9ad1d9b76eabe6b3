/* The largest of a vector and where it is, the ends of its range, and the last of the smallest of
   each row with its place: numbers with signs, many equal ones, zeros of both signs and NaN. */
#include "harness.h"
#include <math.h>

#ifndef DATA_TYPE
#define DATA_TYPE double
#endif
#ifdef LARGE
#define N_DEFAULT 4000
#else
#define N_DEFAULT 400
#endif
#ifndef N
#define N N_DEFAULT
#endif

static void kernel_largest(int n, DATA_TYPE x[restrict n], DATA_TYPE result[restrict 1], int place[restrict 1])
{
#pragma scop
  DATA_TYPE m = x[0];
  int at = 0;
  for (int i = 1; i < n; i++)
    if (x[i] > m) {
      m = x[i];
      at = i;
    }
  result[0] = m;
  place[0] = at;
#pragma endscop
}

static void kernel_ends(int n, DATA_TYPE x[restrict n], DATA_TYPE y[restrict n], DATA_TYPE result[restrict 2])
{
  DATA_TYPE low = INFINITY, high = -INFINITY;
#pragma scop
  for (int i = 0; i < n; i++) {
    DATA_TYPE d = x[i] - y[i];
    if (d > high)
      high = d;
    else if (d <= low)
      low = d;
  }
#pragma endscop
  result[0] = low;
  result[1] = high;
}

static void kernel_rows(int n, DATA_TYPE x[restrict n][n], DATA_TYPE least[restrict n], int place[restrict n])
{
#pragma scop
  for (int i = 0; i < n; i++) {
    DATA_TYPE m = 1e30;
    int at = -1;
    for (int j = 0; j < n; j++)
      if (x[i][j] <= m) {
        m = x[i][j];
        at = j;
      }
    least[i] = m;
    place[i] = at;
  }
#pragma endscop
}

static DATA_TYPE number(size_t k)
{
  double u = harness_unit(1, k);
  return k % 11 == 3 ? -0.0 : k % 13 == 5 ? 0.0 : k % 97 == 7 ? NAN : (DATA_TYPE)(floor(40 * u) / 4 - 8);
}

int main(int argc, char **argv)
{
  int n = SIZE(N);
  size_t all = (size_t)n * (size_t)n;
  DATA_TYPE *x = harness_alloc(all + 1, sizeof(DATA_TYPE));
  DATA_TYPE *y = harness_alloc(all + 1, sizeof(DATA_TYPE));
  DATA_TYPE *least = harness_alloc((size_t)n + 3, sizeof(DATA_TYPE));
  int *place = harness_alloc((size_t)n + 1, sizeof(int));
  harness_open(argc, argv);
  for (int rep = 0; rep < REPS; rep++) {
    for (size_t k = 0; k < all + 1; k++) {
      x[k] = number(k);
      y[k] = (DATA_TYPE)(harness_unit(2, k) / 8);
    }
    harness_start();
    kernel_rows(n, (DATA_TYPE(*)[n])x, least, place);
    kernel_largest(n * n, x, least + n, place + n);
    kernel_ends(n * n, x, y, least + n + 1);
    harness_stop();
  }
  OUTPUT("least", (DATA_TYPE *)least, (size_t)n + 3);
  OUTPUT("place", (int *)place, (size_t)n + 1);
  free(x);
  free(y);
  free(least);
  free(place);
  return harness_finish("records");
}
