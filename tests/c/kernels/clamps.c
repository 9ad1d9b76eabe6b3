/* Places that conditions keep within an image, a table in the loops, a function of the file. */
#include "harness.h"

#ifndef DATA_TYPE
#define DATA_TYPE float
#endif
#ifdef LARGE
#define N_DEFAULT 1500
#define M_DEFAULT 2003
#else
#define N_DEFAULT 13
#define M_DEFAULT 19
#endif
#ifndef N
#define N N_DEFAULT
#endif
#ifndef M
#define M M_DEFAULT
#endif

static DATA_TYPE between(DATA_TYPE low, DATA_TYPE value, DATA_TYPE high)
{
  if (value < low)
    return low;
  return value > high ? high : value;
}

static void kernel_clamps(int h, int w, const DATA_TYPE *restrict in, DATA_TYPE *restrict out)
{
#pragma scop
  for (int y = 0; y < h; y++)
    for (int x = 0; x < w; x++) {
      static const DATA_TYPE weights[5] = {1, 4, 6, 4, 1};
      DATA_TYPE sum = 0;
      for (int d = -2; d <= 2; d++) {
        int yy = y + d, xx = x - d;
        if (yy < 0)
          yy = 0;
        if (yy >= h)
          yy = h - 1;
        if (xx < 0)
          xx = 0;
        else if (xx > w - 1)
          xx = w - 1;
        sum += weights[d + 2] * in[yy * w + xx];
      }
      out[y * w + x] = between((DATA_TYPE)-8, sum, (DATA_TYPE)8);
    }
#pragma endscop
}

int main(int argc, char **argv)
{
  int h = SIZE(N), w = SIZE(M);
  DATA_TYPE *in = harness_alloc((size_t)h * (size_t)w, sizeof(DATA_TYPE));
  DATA_TYPE *out = harness_alloc((size_t)h * (size_t)w, sizeof(DATA_TYPE));
  harness_open(argc, argv);
  for (int k = 0; k < h * w; k++)
    in[k] = (DATA_TYPE)harness_unit(1, (uint64_t)k);
  for (int rep = 0; rep < REPS; rep++) {
    memset(out, 0, (size_t)h * (size_t)w * sizeof(DATA_TYPE));
    harness_start();
    kernel_clamps(h, w, in, out);
    harness_stop();
  }
  OUTPUT("out", out, h * w);
  free(in);
  free(out);
  return harness_finish("clamps");
}
