/* Filters of images: bytes and floats, rows and pixels of several channels. */
#include "driver.h"

typedef unsigned char uchar;

void grayscale(uchar *gray, const uchar *rgb, int w, int h)
{
#pragma scop
  for (int y = 0; y < h; y++)
    for (int x = 0; x < w; x++) {
      int p = 3 * (y * w + x);
      gray[y * w + x] = (uchar)((77 * rgb[p] + 150 * rgb[p + 1] + 29 * rgb[p + 2]) >> 8);
    }
#pragma endscop
}
RUN(grayscale, 300, grayscale(B(0), B(1), n, n))

void invert(uchar *img, int n)
{
#pragma scop
  int i;
  for (i = 0; i < n; i++)
    img[i] = 255 - img[i];
#pragma endscop
}
RUN(invert, 60000, invert(B(0), n))

void threshold(uchar *dst, const uchar *src, int w, int h, int level)
{
#pragma scop
  for (int y = 0; y < h; y++)
    for (int x = 0; x < w; x++)
      dst[y * w + x] = src[y * w + x] > level ? 255 : 0;
#pragma endscop
}
RUN(threshold, 400, threshold(B(0), B(1), n, n, 100))

void box3(uchar *dst, uchar *src, int w, int h)
{
#pragma scop
  for (int y = 1; y < h - 1; y++) {
    for (int x = 1; x < w - 1; x++) {
      int sum = 0;
      for (int dy = -1; dy <= 1; dy++)
        for (int dx = -1; dx <= 1; dx++)
          sum += src[(y + dy) * w + x + dx];
      dst[y * w + x] = sum / 9;
    }
  }
#pragma endscop
}
RUN(box3, 300, box3(B(0), B(1), n, n))

void sobel(float *mag, const uchar *img, int w, int h)
{
#pragma scop
  for (int y = 1; y < h - 1; y++) {
    for (int x = 1; x < w - 1; x++) {
      int gx = img[(y - 1) * w + x + 1] + 2 * img[y * w + x + 1] + img[(y + 1) * w + x + 1]
             - img[(y - 1) * w + x - 1] - 2 * img[y * w + x - 1] - img[(y + 1) * w + x - 1];
      int gy = img[(y + 1) * w + x - 1] + 2 * img[(y + 1) * w + x] + img[(y + 1) * w + x + 1]
             - img[(y - 1) * w + x - 1] - 2 * img[(y - 1) * w + x] - img[(y - 1) * w + x + 1];
      mag[y * w + x] = sqrtf((float)(gx * gx + gy * gy));
    }
  }
#pragma endscop
}
RUN(sobel, 300, sobel(F(0), B(1), n, n))

void gauss_rows(float *tmp, float *src, const float *kernel, int w, int h, int radius)
{
#pragma scop
  for (int y = 0; y < h; y++) {
    for (int x = radius; x < w - radius; x++) {
      float s = 0.0f;
      for (int k = -radius; k <= radius; k++)
        s += kernel[k + radius] * src[y * w + x + k];
      tmp[y * w + x] = s;
    }
  }
#pragma endscop
}
RUN(gauss_rows, 300, gauss_rows(F(0), F(1), F(2), n, n, 3))

void gauss_columns(float *dst, float *tmp, const float *kernel, int w, int h, int radius)
{
#pragma scop
  for (int y = radius; y < h - radius; y++) {
    for (int x = 0; x < w; x++) {
      float s = 0.0f;
      for (int k = -radius; k <= radius; k++)
        s += kernel[k + radius] * tmp[(y + k) * w + x];
      dst[y * w + x] = s;
    }
  }
#pragma endscop
}
RUN(gauss_columns, 300, gauss_columns(F(0), F(1), F(2), n, n, 3))

void transpose(uchar *dst, const uchar *src, int w, int h)
{
#pragma scop
  for (int y = 0; y < h; y++)
    for (int x = 0; x < w; x++)
      dst[x * h + y] = src[y * w + x];
#pragma endscop
}
RUN(transpose, 500, transpose(B(0), B(1), n, n))

void rotate180(uchar *dst, const uchar *src, int w, int h)
{
#pragma scop
  for (int y = 0; y < h; y++)
    for (int x = 0; x < w; x++)
      dst[(h - 1 - y) * w + (w - 1 - x)] = src[y * w + x];
#pragma endscop
}
RUN(rotate180, 500, rotate180(B(0), B(1), n, n))

void flip_rows(uchar *img, int w, int h)
{
#pragma scop
  for (int y = 0; y < h; y++) {
    uchar *row = img + y * w;
    for (int x = 0; x < w / 2; x++) {
      uchar t = row[x];
      row[x] = row[w - 1 - x];
      row[w - 1 - x] = t;
    }
  }
#pragma endscop
}
RUN(flip_rows, 400, flip_rows(B(0), n, n))

void histogram(int *hist, const uchar *img, int n)
{
#pragma scop
  for (int i = 0; i < 256; i++)
    hist[i] = 0;
  for (int i = 0; i < n; i++)
    hist[img[i]]++;
#pragma endscop
}
RUN(histogram, 30000, histogram(I(0), B(1), n))

void equalize(uchar *img, const int *cdf, int n, int total)
{
#pragma scop
  for (int i = 0; i < n; i++)
    img[i] = (uchar)((cdf[img[i]] & 1023) * 255 / total);
#pragma endscop
}
RUN(equalize, 30000, equalize(B(0), I(1), n, 1024))

void downscale2(float *dst, const float *src, int w, int h)
{
#pragma scop
  for (int y = 0; y < h / 2; y++)
    for (int x = 0; x < w / 2; x++)
      dst[y * (w / 2) + x] = (src[2 * y * w + 2 * x] + src[2 * y * w + 2 * x + 1]
                            + src[(2 * y + 1) * w + 2 * x] + src[(2 * y + 1) * w + 2 * x + 1]) * 0.25f;
#pragma endscop
}
RUN(downscale2, 400, downscale2(F(0), F(1), n, n))

void bilinear(float *dst, const float *src, int w, int h, float fx, float fy)
{
#pragma scop
  for (int y = 0; y < h - 1; y++)
    for (int x = 0; x < w - 1; x++) {
      float top = src[y * w + x] * (1 - fx) + src[y * w + x + 1] * fx;
      float bottom = src[(y + 1) * w + x] * (1 - fx) + src[(y + 1) * w + x + 1] * fx;
      dst[y * w + x] = top * (1 - fy) + bottom * fy;
    }
#pragma endscop
}
RUN(bilinear, 400, bilinear(F(0), F(1), n, n, 0.25f, 0.5f))

void blend(uchar *dst, const uchar *src, int n, int alpha)
{
#pragma scop
  int i;
  for (i = 0; i < n; ++i) {
    dst[i] = (src[i] * alpha + dst[i] * (256 - alpha)) >> 8;
  }
#pragma endscop
}
RUN(blend, 40000, blend(B(0), B(1), n, 90))

void yuv_to_rgb(uchar *rgb, const uchar *yp, const uchar *up, const uchar *vp, int w, int h)
{
#pragma scop
  for (int j = 0; j < h; j++) {
    for (int i = 0; i < w; i++) {
      int c = yp[j * w + i] - 16;
      int d = up[j * w + i] - 128;
      int e = vp[j * w + i] - 128;
      int r = (298 * c + 409 * e + 128) >> 8;
      int g = (298 * c - 100 * d - 208 * e + 128) >> 8;
      int b = (298 * c + 516 * d + 128) >> 8;
      rgb[3 * (j * w + i)] = r < 0 ? 0 : r > 255 ? 255 : r;
      rgb[3 * (j * w + i) + 1] = g < 0 ? 0 : g > 255 ? 255 : g;
      rgb[3 * (j * w + i) + 2] = b < 0 ? 0 : b > 255 ? 255 : b;
    }
  }
#pragma endscop
}
RUN(yuv_to_rgb, 200, yuv_to_rgb(B(0), B(1), B(2), B(3), n, n))

void erode(uchar *dst, const uchar *src, int w, int h)
{
#pragma scop
  for (int y = 1; y < h - 1; y++) {
    for (int x = 1; x < w - 1; x++) {
      uchar m = 255;
      for (int j = -1; j <= 1; j++)
        for (int i = -1; i <= 1; i++)
          if (src[(y + j) * w + (x + i)] < m)
            m = src[(y + j) * w + (x + i)];
      dst[y * w + x] = m;
    }
  }
#pragma endscop
}
RUN(erode, 200, erode(B(0), B(1), n, n))

void integral(int *sum, const uchar *img, int w, int h)
{
#pragma scop
  for (int y = 0; y < h; y++) {
    int row = 0;
    for (int x = 0; x < w; x++) {
      row += img[y * w + x];
      sum[y * w + x] = row + (y > 0 ? sum[(y - 1) * w + x] : 0);
    }
  }
#pragma endscop
}
RUN(integral, 300, integral(I(0), B(1), n, n))

struct pixel { float r, g, b; };

void sepia(struct pixel *p, int n)
{
#pragma scop
  for (int i = 0; i < n; i++) {
    float r = p[i].r, g = p[i].g, b = p[i].b;
    p[i].r = fminf(1.0f, 0.393f * r + 0.769f * g + 0.189f * b);
    p[i].g = fminf(1.0f, 0.349f * r + 0.686f * g + 0.168f * b);
    p[i].b = fminf(1.0f, 0.272f * r + 0.534f * g + 0.131f * b);
  }
#pragma endscop
}
RUN(sepia, 6000, sepia((struct pixel *)F(0), n))

void convolve(float *out, const float *in, int w, int h, const float *k, int kw, int kh)
{
  int hx = kw / 2, hy = kh / 2;
#pragma scop
  for (int y = hy; y < h - hy; y++)
    for (int x = hx; x < w - hx; x++) {
      float acc = 0;
      for (int j = 0; j < kh; j++)
        for (int i = 0; i < kw; i++)
          acc += in[(y + j - hy) * w + (x + i - hx)] * k[j * kw + i];
      out[y * w + x] = acc;
    }
#pragma endscop
}
RUN(convolve, 150, convolve(F(0), F(1), n, n, F(2), 5, 5))

void clamp_rows(float *img, int w, int h, float lo, float hi)
{
#pragma scop
  for (int y = 0; y < h; y++) {
    float *p = &img[y * w];
    for (int x = 0; x < w; x++, p++) {
      if (*p < lo)
        *p = lo;
      else if (*p > hi)
        *p = hi;
    }
  }
#pragma endscop
}
RUN(clamp_rows, 300, clamp_rows(F(0), n, n, 0.5f, 1.0f))

void gamma_table(uchar *img, const uchar *table, int w, int h, int stride)
{
#pragma scop
  for (int y = 0; y < h; ++y)
    for (int x = 0; x < w; ++x)
      img[y * stride + x] = table[img[y * stride + x]];
#pragma endscop
}
RUN(gamma_table, 200, gamma_table(B(0), B(1), n, n, n + 3))
