/* A convolution of every channel of an image with a window of its own, channels innermost. */
#include "harness.h"

#ifndef DATA_TYPE
#define DATA_TYPE float
#endif
#ifdef LARGE
#define H_DEFAULT 224
#define W_DEFAULT 224
#define C_DEFAULT 128
#else
#define H_DEFAULT 13
#define W_DEFAULT 11
#define C_DEFAULT 20
#endif
#ifndef H
#define H H_DEFAULT
#endif
#ifndef W
#define W W_DEFAULT
#endif
#ifndef C
#define C C_DEFAULT
#endif

static void kernel_depthwise(int h, int w, int c, DATA_TYPE y[restrict h][w][c],
                             DATA_TYPE x[restrict h + 2][w + 2][c], DATA_TYPE f[restrict 3][3][c])
{
#pragma scop
  for (int i = 0; i < h; i++)
    for (int j = 0; j < w; j++)
      for (int k = 0; k < c; k++) {
        DATA_TYPE s = 0;
        for (int p = 0; p < 3; p++)
          for (int q = 0; q < 3; q++)
            s += x[i + p][j + q][k] * f[p][q][k];
        y[i][j][k] = s;
      }
#pragma endscop
}

int main(int argc, char **argv)
{
  int h = SIZE(H);
  int w = SIZE(W);
  int c = SIZE(C);
  size_t elements = (size_t)h * (size_t)w * (size_t)c, padded = (size_t)(h + 2) * (size_t)(w + 2) * (size_t)c;
  DATA_TYPE (*y)[w][c] = harness_alloc(elements, sizeof(DATA_TYPE));
  DATA_TYPE (*x)[w + 2][c] = harness_alloc(padded, sizeof(DATA_TYPE));
  DATA_TYPE (*f)[3][c] = harness_alloc(9 * (size_t)c, sizeof(DATA_TYPE));
  harness_open(argc, argv);
  for (int rep = 0; rep < REPS; rep++) {
    for (size_t k = 0; k < padded; k++)
      ((DATA_TYPE *)x)[k] = (DATA_TYPE)harness_unit(1, k);
    for (size_t k = 0; k < 9 * (size_t)c; k++)
      ((DATA_TYPE *)f)[k] = (DATA_TYPE)harness_unit(2, k);
    memset(y, 0, elements * sizeof(DATA_TYPE));
    harness_start();
    kernel_depthwise(h, w, c, y, x, f);
    harness_stop();
  }
  OUTPUT("y", (DATA_TYPE *)y, elements);
  free(y);
  free(x);
  free(f);
  return harness_finish("depthwise");
}
