#include <stdint.h>

void shade(int h, int w, uint8_t least, const uint8_t in[restrict h][w], uint8_t out[restrict h][w], uint16_t wide[restrict h][w])
{
#pragma scop
  for (int i = 1; i < h - 1; i++)
    for (int j = 1; j < w - 1; j++) {
      uint8_t soft = (in[i - 1][j] + in[i + 1][j] + 4 * in[i][j]) / 6;
      out[i][j] = soft > 255 - least ? 255 : soft + least;
      wide[i][j] = out[i][j] << 8 | in[i][j];
      out[i][j] -= out[i][j] >> 4;
    }
#pragma endscop
}

void checksum(int n, const unsigned char text[restrict n], unsigned *restrict sum)
{
  unsigned low = 1, high = 0;
#pragma scop
  for (int i = 0; i < n; i++) {
    low = (low + text[i]) % 65521u;
    high = (high + low) % 65521u;
  }
#pragma endscop
  *sum = high << 16 | low;
}

#ifdef POINTERS
void shifted(int n, const int *x, unsigned char *y)
{
#pragma scop
  for (int i = 0; i < n; i++)
    y[i] = x[i] >> 8;
#pragma endscop
}
#endif
