/* A convolution of an image with a small kernel. */
#include "harness.h"

#ifndef DATA_TYPE
#define DATA_TYPE double
#endif
#ifdef LARGE
#define H_DEFAULT 1000
#define W_DEFAULT 1000
#define R_DEFAULT 5
#else
#define H_DEFAULT 20
#define W_DEFAULT 24
#define R_DEFAULT 5
#endif
#ifndef H
#define H H_DEFAULT
#endif
#ifndef W
#define W W_DEFAULT
#endif
#ifndef R
#define R R_DEFAULT
#endif

static void kernel_conv2d(int h, int w, int r, DATA_TYPE in[restrict h + r][w + r],
                          DATA_TYPE weights[restrict r][r], DATA_TYPE out[restrict h][w])
{
#pragma scop
  for (int y = 0; y < h; y++)
    for (int x = 0; x < w; x++) {
      out[y][x] = 0;
      for (int dy = 0; dy < r; dy++)
        for (int dx = 0; dx < r; dx++)
          out[y][x] += in[y + dy][x + dx] * weights[dy][dx];
    }
#pragma endscop
}

int main(int argc, char **argv)
{
  int h = SIZE(H);
  int w = SIZE(W);
  int r = SIZE(R);
  DATA_TYPE (*in)[w + r] = harness_alloc((size_t)(h + r) * (size_t)(w + r), sizeof(DATA_TYPE));
  DATA_TYPE (*weights)[r] = harness_alloc((size_t)r * (size_t)r, sizeof(DATA_TYPE));
  DATA_TYPE (*out)[w] = harness_alloc((size_t)h * (size_t)w, sizeof(DATA_TYPE));
  harness_open(argc, argv);
  for (int rep = 0; rep < REPS; rep++) {
    for (size_t k = 0; k < (size_t)(h + r) * (size_t)(w + r); k++)
      ((DATA_TYPE *)in)[k] = (DATA_TYPE)harness_unit(1, k);
    for (size_t k = 0; k < (size_t)r * (size_t)r; k++)
      ((DATA_TYPE *)weights)[k] = (DATA_TYPE)harness_unit(2, k);
    memset(out, 0, (size_t)h * (size_t)w * sizeof(DATA_TYPE));
    harness_start();
    kernel_conv2d(h, w, r, in, weights, out);
    harness_stop();
  }
  OUTPUT("out", (DATA_TYPE *)out, (size_t)h * (size_t)w);
  free(in);
  free(weights);
  free(out);
  return harness_finish("conv2d");
}
