/* The largest value of each two by two block, and an enlargement back. */
#include "harness.h"
#include <math.h>

#ifndef DATA_TYPE
#define DATA_TYPE double
#endif
#ifdef LARGE
#define H_DEFAULT 500
#define W_DEFAULT 500
#else
#define H_DEFAULT 12
#define W_DEFAULT 10
#endif
#ifndef H
#define H H_DEFAULT
#endif
#ifndef W
#define W W_DEFAULT
#endif

static void kernel_max_pool(int h, int w, DATA_TYPE in[restrict 2 * h][2 * w],
                            DATA_TYPE pooled[restrict h][w], DATA_TYPE out[restrict 2 * h][2 * w])
{
#pragma scop
  for (int y = 0; y < h; y++)
    for (int x = 0; x < w; x++)
      pooled[y][x] = fmax(fmax(in[2 * y][2 * x], in[2 * y][2 * x + 1]),
                          fmax(in[2 * y + 1][2 * x], in[2 * y + 1][2 * x + 1]));
  for (int y = 0; y < 2 * h; y++)
    for (int x = 0; x < 2 * w; x++)
      out[y][x] = pooled[y / 2][x / 2];
#pragma endscop
}

int main(int argc, char **argv)
{
  int h = SIZE(H);
  int w = SIZE(W);
  DATA_TYPE (*in)[2 * w] = harness_alloc((size_t)(2 * h) * (size_t)(2 * w), sizeof(DATA_TYPE));
  DATA_TYPE (*pooled)[w] = harness_alloc((size_t)h * (size_t)w, sizeof(DATA_TYPE));
  DATA_TYPE (*out)[2 * w] = harness_alloc((size_t)(2 * h) * (size_t)(2 * w), sizeof(DATA_TYPE));
  harness_open(argc, argv);
  for (int rep = 0; rep < REPS; rep++) {
    for (size_t k = 0; k < (size_t)(2 * h) * (size_t)(2 * w); k++)
      ((DATA_TYPE *)in)[k] = (DATA_TYPE)harness_unit(1, k);
    memset(pooled, 0, (size_t)h * (size_t)w * sizeof(DATA_TYPE));
    memset(out, 0, (size_t)(2 * h) * (size_t)(2 * w) * sizeof(DATA_TYPE));
    harness_start();
    kernel_max_pool(h, w, in, pooled, out);
    harness_stop();
  }
  OUTPUT("pooled", (DATA_TYPE *)pooled, (size_t)h * (size_t)w);
  OUTPUT("out", (DATA_TYPE *)out, (size_t)(2 * h) * (size_t)(2 * w));
  free(in);
  free(pooled);
  free(out);
  return harness_finish("max-pool");
}
