/* Steps of a solver as functions that return nothing: of elements, of rows, with loops and conditions, of each other. */
#include "harness.h"

#ifdef LARGE
#define H_DEFAULT 1200
#define W_DEFAULT 1500
#else
#define H_DEFAULT 23
#define W_DEFAULT 41
#endif
#ifndef H
#define H H_DEFAULT
#endif
#ifndef W
#define W W_DEFAULT
#endif

static inline void swap(double *a, double *b)
{
  double t = *a;
  *a = *b;
  *b = t;
}

static inline void accumulate(double *sum, double value) { *sum += 0.5 * value; }

static inline void split(double *low, double *high, double value)
{
  if (value < 0.25) {
    accumulate(low, value);
  } else
    accumulate(high, -value);
}

static inline void relax(double *out, const double *row, double weight, int w)
{
  for (int k = 1; k < w - 1; k++) {
    double sum = row[k - 1] + row[k + 1];
    out[k] = weight * row[k] + sum * (1 - weight) / 2;
  }
}

static void kernel_void_helpers(int h, int w, double a[restrict h][w], double b[restrict h][w], double low[restrict h],
                                double high[restrict h])
{
#pragma scop
  for (int y = 0; y < h; y++) {
    relax(b[y], a[y], 0.75, w);
    for (int k = 0; k < w; k++)
      split(&low[y], &high[y], b[y][k]);
  }
  for (int y = 0; y < h; y++)
    for (int k = 0; k < w / 2; k++)
      swap(&a[y][k], &a[y][w - 1 - k]);
#pragma endscop
}

int main(int argc, char **argv)
{
  int h = SIZE(H), w = SIZE(W);
  size_t count = (size_t)h * (size_t)w;
  double (*a)[w] = harness_alloc(count, sizeof(double));
  double (*b)[w] = harness_alloc(count, sizeof(double));
  double *low = harness_alloc((size_t)h, sizeof(double));
  double *high = harness_alloc((size_t)h, sizeof(double));
  harness_open(argc, argv);
  for (int rep = 0; rep < REPS; rep++) {
    for (size_t i = 0; i < count; i++) {
      ((double *)a)[i] = harness_unit(1, i);
      ((double *)b)[i] = harness_unit(2, i);
    }
    for (int i = 0; i < h; i++)
      low[i] = high[i] = 0;
    harness_start();
    kernel_void_helpers(h, w, a, b, low, high);
    harness_stop();
  }
  OUTPUT("a", (double *)a, count);
  OUTPUT("b", (double *)b, count);
  OUTPUT("low", low, (size_t)h);
  OUTPUT("high", high, (size_t)h);
  free(a);
  free(b);
  free(low);
  free(high);
  return harness_finish("void_helpers");
}
