/* Three passes over one image that could be one. */
#include "harness.h"
#include <math.h>

#ifndef DATA_TYPE
#define DATA_TYPE double
#endif
#ifdef LARGE
#define H_DEFAULT 1000
#define W_DEFAULT 1000
#else
#define H_DEFAULT 20
#define W_DEFAULT 24
#endif
#ifndef H
#define H H_DEFAULT
#endif
#ifndef W
#define W W_DEFAULT
#endif

static void kernel_fused_producer(int h, int w, DATA_TYPE in[restrict h][w],
                                  DATA_TYPE blurred[restrict h][w], DATA_TYPE sharp[restrict h][w])
{
#pragma scop
  for (int y = 0; y < h; y++)
    for (int x = 1; x < w - 1; x++)
      blurred[y][x] = (in[y][x - 1] + in[y][x] + in[y][x + 1]) / 3;
  for (int y = 0; y < h; y++)
    for (int x = 1; x < w - 1; x++)
      sharp[y][x] = 2 * in[y][x] - blurred[y][x];
  for (int y = 0; y < h; y++)
    for (int x = 0; x < w; x++)
      sharp[y][x] = fmin(fmax(sharp[y][x], 0), 1);
#pragma endscop
}

int main(int argc, char **argv)
{
  int h = SIZE(H);
  int w = SIZE(W);
  DATA_TYPE (*in)[w] = harness_alloc((size_t)h * (size_t)w, sizeof(DATA_TYPE));
  DATA_TYPE (*blurred)[w] = harness_alloc((size_t)h * (size_t)w, sizeof(DATA_TYPE));
  DATA_TYPE (*sharp)[w] = harness_alloc((size_t)h * (size_t)w, sizeof(DATA_TYPE));
  harness_open(argc, argv);
  for (int rep = 0; rep < REPS; rep++) {
    for (size_t k = 0; k < (size_t)h * (size_t)w; k++)
      ((DATA_TYPE *)in)[k] = (DATA_TYPE)harness_unit(1, k);
    memset(blurred, 0, (size_t)h * (size_t)w * sizeof(DATA_TYPE));
    memset(sharp, 0, (size_t)h * (size_t)w * sizeof(DATA_TYPE));
    harness_start();
    kernel_fused_producer(h, w, in, blurred, sharp);
    harness_stop();
  }
  OUTPUT("blurred", (DATA_TYPE *)blurred, (size_t)h * (size_t)w);
  OUTPUT("sharp", (DATA_TYPE *)sharp, (size_t)h * (size_t)w);
  free(in);
  free(blurred);
  free(sharp);
  return harness_finish("fused-producer");
}
