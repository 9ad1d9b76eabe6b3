/* A convolution of few channels: y[o][i][j] = sum of x[q][i + r][j + s] f[o][q][r][s], windows of 3 x 3. */
#include "harness.h"

#ifndef DATA_TYPE
#define DATA_TYPE float
#endif
#ifdef LARGE
#define K_DEFAULT 8
#define C_DEFAULT 3
#define H_DEFAULT 56
#define W_DEFAULT 56
#else
#define K_DEFAULT 5
#define C_DEFAULT 2
#define H_DEFAULT 7
#define W_DEFAULT 19
#endif
#ifndef K
#define K K_DEFAULT
#endif
#ifndef C
#define C C_DEFAULT
#endif
#ifndef H
#define H H_DEFAULT
#endif
#ifndef W
#define W W_DEFAULT
#endif
#define R 3

static void kernel_conv_few(int k, int c, int h, int w, DATA_TYPE y[restrict k][h][w],
                            const DATA_TYPE x[restrict c][h + R - 1][w + R - 1],
                            const DATA_TYPE f[restrict k][c][R][R])
{
#pragma scop
  for (int o = 0; o < k; o++)
    for (int i = 0; i < h; i++)
      for (int j = 0; j < w; j++) {
        y[o][i][j] = 0;
        for (int q = 0; q < c; q++)
          for (int r = 0; r < R; r++)
            for (int s = 0; s < R; s++)
              y[o][i][j] += x[q][i + r][j + s] * f[o][q][r][s];
      }
#pragma endscop
}

int main(int argc, char **argv)
{
  int k = SIZE(K);
  int c = SIZE(C);
  int h = SIZE(H);
  int w = SIZE(W);
  size_t ys = (size_t)k * (size_t)h * (size_t)w;
  size_t xs = (size_t)c * (size_t)(h + R - 1) * (size_t)(w + R - 1);
  size_t fs = (size_t)k * (size_t)c * R * R;
  DATA_TYPE (*y)[h][w] = harness_alloc(ys, sizeof(DATA_TYPE));
  DATA_TYPE (*x)[h + R - 1][w + R - 1] = harness_alloc(xs, sizeof(DATA_TYPE));
  DATA_TYPE (*f)[c][R][R] = harness_alloc(fs, sizeof(DATA_TYPE));
  harness_open(argc, argv);
  for (int rep = 0; rep < REPS; rep++) {
    memset(y, 0, ys * sizeof(DATA_TYPE));
    for (size_t e = 0; e < xs; e++)
      ((DATA_TYPE *)x)[e] = (DATA_TYPE)harness_unit(1, e);
    for (size_t e = 0; e < fs; e++)
      ((DATA_TYPE *)f)[e] = (DATA_TYPE)harness_unit(2, e);
    harness_start();
    kernel_conv_few(k, c, h, w, y, x, f);
    harness_stop();
  }
  OUTPUT("y", (DATA_TYPE *)y, ys);
  free(y);
  free(x);
  free(f);
  return harness_finish("conv-few");
}
