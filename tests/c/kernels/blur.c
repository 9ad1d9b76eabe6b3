/* An image of bytes: smoothed by a window of nine, then its edges: the sum of two absolute slopes, cut off at 255, and those above a threshold. */
#include "harness.h"

#ifdef LARGE
#define H_DEFAULT 2000
#define W_DEFAULT 3000
#else
#define H_DEFAULT 41
#define W_DEFAULT 53
#endif
#ifndef H
#define H H_DEFAULT
#endif
#ifndef W
#define W W_DEFAULT
#endif

static void kernel_blur(int h, int w, uint8_t threshold, const uint8_t in[restrict h][w], uint8_t soft[restrict h][w],
                        uint8_t edges[restrict h][w], uint8_t marked[restrict h][w])
{
#pragma scop
  for (int i = 1; i < h - 1; i++)
    for (int j = 1; j < w - 1; j++)
      soft[i][j] = (in[i - 1][j - 1] + 2 * in[i - 1][j] + in[i - 1][j + 1] + 2 * in[i][j - 1] + 4 * in[i][j] + 2 * in[i][j + 1] +
                    in[i + 1][j - 1] + 2 * in[i + 1][j] + in[i + 1][j + 1] + 8) / 16;
  for (int i = 1; i < h - 1; i++)
    for (int j = 1; j < w - 1; j++) {
      int x = soft[i - 1][j + 1] + 2 * soft[i][j + 1] + soft[i + 1][j + 1] - soft[i - 1][j - 1] - 2 * soft[i][j - 1] - soft[i + 1][j - 1];
      int y = soft[i + 1][j - 1] + 2 * soft[i + 1][j] + soft[i + 1][j + 1] - soft[i - 1][j - 1] - 2 * soft[i - 1][j] - soft[i - 1][j + 1];
      int slope = abs(x) + abs(y);
      edges[i][j] = slope > 255 ? 255 : slope;
      marked[i][j] = edges[i][j] >= threshold ? 255 : 0;
    }
#pragma endscop
}

int main(int argc, char **argv)
{
  int h = SIZE(H), w = SIZE(W);
  size_t count = (size_t)h * (size_t)w;
  uint8_t (*in)[w] = harness_alloc(count, 1);
  uint8_t (*soft)[w] = harness_alloc(count, 1);
  uint8_t (*edges)[w] = harness_alloc(count, 1);
  uint8_t (*marked)[w] = harness_alloc(count, 1);
  harness_open(argc, argv);
  for (int rep = 0; rep < REPS; rep++) {
    for (size_t k = 0; k < count; k++)
      ((uint8_t *)in)[k] = (uint8_t)harness_below(1, k, 256);
    harness_start();
    kernel_blur(h, w, 100, in, soft, edges, marked);
    harness_stop();
  }
  OUTPUT("soft", (uint8_t *)soft, count);
  OUTPUT("edges", (uint8_t *)edges, count);
  OUTPUT("marked", (uint8_t *)marked, count);
  free(in);
  free(soft);
  free(edges);
  free(marked);
  return harness_finish("blur");
}
