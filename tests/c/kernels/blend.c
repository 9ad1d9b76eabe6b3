/* Images of bytes: a picture laid over another by its transparency, the brightness of the result, its negative in 16 bits, and its darkest and
   brightest place. */
#include "harness.h"

#ifdef LARGE
#define H_DEFAULT 2000
#define W_DEFAULT 2000
#else
#define H_DEFAULT 37
#define W_DEFAULT 43
#endif
#ifndef H
#define H H_DEFAULT
#endif
#ifndef W
#define W W_DEFAULT
#endif

static void kernel_blend(int h, int w, unsigned char picture[restrict h][w][3], const unsigned char over[restrict h][w][4],
                         unsigned char grey[restrict h][w], unsigned short deep[restrict h][w], unsigned char range[restrict 2],
                         unsigned long total[restrict 1])
{
  unsigned char least = 255, most = 0;
  unsigned long sum = 0;
#pragma scop
  for (int i = 0; i < h; i++)
    for (int j = 0; j < w; j++)
      for (int c = 0; c < 3; c++)
        picture[i][j][c] = (over[i][j][c] * over[i][j][3] + picture[i][j][c] * (255 - over[i][j][3]) + 127) / 255;
  for (int i = 0; i < h; i++)
    for (int j = 0; j < w; j++)
      grey[i][j] = (77 * picture[i][j][0] + 150 * picture[i][j][1] + 29 * picture[i][j][2]) >> 8;
  for (int i = 0; i < h; i++)
    for (int j = 0; j < w; j++)
      deep[i][j] = ~(grey[i][j] * 257);
#pragma lozenge reduction(min: least) reduction(max: most) reduction(+: sum)
  for (int i = 0; i < h; i++)
    for (int j = 0; j < w; j++) {
      least = grey[i][j] < least ? grey[i][j] : least;
      most = grey[i][j] > most ? grey[i][j] : most;
      sum += grey[i][j];
    }
#pragma endscop
  range[0] = least;
  range[1] = most;
  total[0] = sum;
}

int main(int argc, char **argv)
{
  int h = SIZE(H), w = SIZE(W);
  size_t count = (size_t)h * (size_t)w;
  unsigned char (*picture)[w][3] = harness_alloc(count, 3);
  unsigned char (*over)[w][4] = harness_alloc(count, 4);
  unsigned char (*grey)[w] = harness_alloc(count, 1);
  unsigned short (*deep)[w] = harness_alloc(count, sizeof(unsigned short));
  unsigned char range[2];
  unsigned long total[1];
  harness_open(argc, argv);
  for (int rep = 0; rep < REPS; rep++) {
    for (size_t k = 0; k < 3 * count; k++)
      ((unsigned char *)picture)[k] = (unsigned char)harness_below(1, k, 256);
    for (size_t k = 0; k < 4 * count; k++)
      ((unsigned char *)over)[k] = (unsigned char)harness_below(2, k, 256);
    harness_start();
    kernel_blend(h, w, picture, over, grey, deep, range, total);
    harness_stop();
  }
  OUTPUT("picture", (unsigned char *)picture, 3 * count);
  OUTPUT("grey", (unsigned char *)grey, count);
  OUTPUT("deep", (unsigned short *)deep, count);
  OUTPUT("range", range, 2);
  OUTPUT("total", total, 1);
  free(picture);
  free(over);
  free(grey);
  free(deep);
  return harness_finish("blend");
}
