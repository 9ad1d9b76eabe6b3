/* A window with clamped borders and a blend, by small functions: with `if`s, with variables, of pointers, of others. */
#include "harness.h"

#ifdef LARGE
#define H_DEFAULT 1000
#define W_DEFAULT 1400
#else
#define H_DEFAULT 37
#define W_DEFAULT 53
#endif
#ifndef H
#define H H_DEFAULT
#endif
#ifndef W
#define W W_DEFAULT
#endif

static inline int clamped(int v, int low, int high)
{
  if (v < low)
    return low;
  else if (v > high) {
    return high;
  }
  return v;
}

static inline float square(float x) { return x * x; }

/* Rounds to single precision on the way in, and on the way out. */
static inline float blend(double a, float b, const float t)
{
  const double from = a * (1 - t), to = square(b) * t;
  if (t > 2)
    return 0;
  return from + to;
}

static inline int half(long x) { return x / 2; }

static inline float at(const float *restrict row, int k) { return row[k]; }

static void kernel_helpers(int h, int w, float in[restrict h][w], float k[restrict 5], float out[restrict h][w],
                           int halves[restrict w])
{
#pragma scop
  for (int y = 0; y < h; y++)
    for (int x = 0; x < w; x++) {
      float sum = 0;
      for (int d = -2; d <= 2; d++)
        sum += in[clamped(y + d, 0, h - 1)][clamped(x - d, 0, w - 1)] * at(k, d + 2);
      out[y][x] = blend(sum, in[y][x], 0.3f) + (float)half(square(sum));
    }
  for (int x = 0; x < w; x++)
    halves[x] = half(x - 7) + clamped(x, 3, 5);
#pragma endscop
}

int main(int argc, char **argv)
{
  int h = SIZE(H), w = SIZE(W);
  size_t count = (size_t)h * (size_t)w;
  float (*in)[w] = harness_alloc(count, sizeof(float));
  float (*out)[w] = harness_alloc(count, sizeof(float));
  int *halves = harness_alloc((size_t)w, sizeof(int));
  float k[5] = {0.125f, 0.25f, 0.3f, 0.2f, 0.1f};
  harness_open(argc, argv);
  for (int rep = 0; rep < REPS; rep++) {
    for (size_t i = 0; i < count; i++)
      ((float *)in)[i] = (float)(3 * harness_unit(1, i));
    harness_start();
    kernel_helpers(h, w, in, k, out, halves);
    harness_stop();
  }
  OUTPUT("out", (float *)out, count);
  OUTPUT("halves", halves, (size_t)w);
  free(in);
  free(out);
  free(halves);
  return harness_finish("helpers");
}
