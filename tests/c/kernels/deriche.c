/* A recursive smoothing filter over an image: forward and backward along rows, then along columns. */
#include "harness.h"
#include <math.h>

#ifndef DATA_TYPE
#define DATA_TYPE double
#endif
#ifdef LARGE
#define W_DEFAULT 4096
#define H_DEFAULT 2160
#else
#define W_DEFAULT 64
#define H_DEFAULT 64
#endif
#ifndef W
#define W W_DEFAULT
#endif
#ifndef H
#define H H_DEFAULT
#endif

static void kernel_deriche(int w, int h, DATA_TYPE alpha, DATA_TYPE in[restrict w][h],
                           DATA_TYPE out[restrict w][h], DATA_TYPE y1[restrict w][h],
                           DATA_TYPE y2[restrict w][h])
{
  DATA_TYPE k, a1, a2, a3, a4, b1, b2;
  DATA_TYPE xm1, xm2, ym1, ym2;
#pragma scop
  k = (1 - exp(-alpha)) * (1 - exp(-alpha)) / (1 + 2 * alpha * exp(-alpha) - exp(2 * alpha));
  a1 = k;
  a2 = k * exp(-alpha) * (alpha - 1);
  a3 = k * exp(-alpha) * (alpha + 1);
  a4 = -k * exp(-2 * alpha);
  b1 = pow(2, -alpha);
  b2 = -exp(-2 * alpha);
  for (int i = 0; i < w; i++) {
    ym1 = 0;
    ym2 = 0;
    xm1 = 0;
    for (int j = 0; j < h; j++) {
      y1[i][j] = a1 * in[i][j] + a2 * xm1 + b1 * ym1 + b2 * ym2;
      xm1 = in[i][j];
      ym2 = ym1;
      ym1 = y1[i][j];
    }
  }
  for (int i = 0; i < w; i++) {
    ym1 = 0;
    ym2 = 0;
    xm1 = 0;
    xm2 = 0;
    for (int j = h - 1; j >= 0; j--) {
      y2[i][j] = a3 * xm1 + a4 * xm2 + b1 * ym1 + b2 * ym2;
      xm2 = xm1;
      xm1 = in[i][j];
      ym2 = ym1;
      ym1 = y2[i][j];
    }
  }
  for (int i = 0; i < w; i++)
    for (int j = 0; j < h; j++)
      out[i][j] = y1[i][j] + y2[i][j];
  for (int j = 0; j < h; j++) {
    xm1 = 0;
    ym1 = 0;
    ym2 = 0;
    for (int i = 0; i < w; i++) {
      y1[i][j] = a1 * out[i][j] + a2 * xm1 + b1 * ym1 + b2 * ym2;
      xm1 = out[i][j];
      ym2 = ym1;
      ym1 = y1[i][j];
    }
  }
  for (int j = 0; j < h; j++) {
    xm1 = 0;
    xm2 = 0;
    ym1 = 0;
    ym2 = 0;
    for (int i = w - 1; i >= 0; i--) {
      y2[i][j] = a3 * xm1 + a4 * xm2 + b1 * ym1 + b2 * ym2;
      xm2 = xm1;
      xm1 = out[i][j];
      ym2 = ym1;
      ym1 = y2[i][j];
    }
  }
  for (int i = 0; i < w; i++)
    for (int j = 0; j < h; j++)
      out[i][j] = y1[i][j] + y2[i][j];
#pragma endscop
}

int main(int argc, char **argv)
{
  int w = SIZE(W);
  int h = SIZE(H);
  DATA_TYPE alpha = 0.25;
  DATA_TYPE (*in)[h] = harness_alloc((size_t)w * (size_t)h, sizeof(DATA_TYPE));
  DATA_TYPE (*out)[h] = harness_alloc((size_t)w * (size_t)h, sizeof(DATA_TYPE));
  DATA_TYPE (*y1)[h] = harness_alloc((size_t)w * (size_t)h, sizeof(DATA_TYPE));
  DATA_TYPE (*y2)[h] = harness_alloc((size_t)w * (size_t)h, sizeof(DATA_TYPE));
  harness_open(argc, argv);
  for (int rep = 0; rep < REPS; rep++) {
    for (size_t k = 0; k < (size_t)w * (size_t)h; k++)
      ((DATA_TYPE *)in)[k] = (DATA_TYPE)harness_unit(1, k);
    memset(out, 0, (size_t)w * (size_t)h * sizeof(DATA_TYPE));
    memset(y1, 0, (size_t)w * (size_t)h * sizeof(DATA_TYPE));
    memset(y2, 0, (size_t)w * (size_t)h * sizeof(DATA_TYPE));
    harness_start();
    kernel_deriche(w, h, alpha, in, out, y1, y2);
    harness_stop();
  }
  OUTPUT("out", (DATA_TYPE *)out, (size_t)w * (size_t)h);
  OUTPUT("y1", (DATA_TYPE *)y1, (size_t)w * (size_t)h);
  OUTPUT("y2", (DATA_TYPE *)y2, (size_t)w * (size_t)h);
  free(in);
  free(out);
  free(y1);
  free(y2);
  return harness_finish("deriche");
}
