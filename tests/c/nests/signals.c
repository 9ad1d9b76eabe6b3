/* Transforms and filters of signals. */
#include "driver.h"

void fft_pass(double *re, double *im, const double *wr, const double *wi, int n, int half)
{
#pragma scop
  for (int i = 0; i < n; i += 2 * half) {
    for (int j = 0; j < half; j++) {
      double tr = wr[j] * re[i + j + half] - wi[j] * im[i + j + half];
      double ti = wr[j] * im[i + j + half] + wi[j] * re[i + j + half];
      re[i + j + half] = re[i + j] - tr;
      im[i + j + half] = im[i + j] - ti;
      re[i + j] += tr;
      im[i + j] += ti;
    }
  }
#pragma endscop
}
RUN(fft_pass, 8192, fft_pass(D(0), D(1), D(2), D(3), n / 16 * 16, 8))

void fft_radix2(double *data, const double *w, int n)
{
#pragma scop
  for (int k = 0; k < n / 2; k++) {
    double ar = data[2 * k], ai = data[2 * k + 1];
    double br = data[2 * (k + n / 2)], bi = data[2 * (k + n / 2) + 1];
    data[2 * k] = ar + br;
    data[2 * k + 1] = ai + bi;
    double dr = ar - br, di = ai - bi;
    data[2 * (k + n / 2)] = dr * w[2 * k] - di * w[2 * k + 1];
    data[2 * (k + n / 2) + 1] = dr * w[2 * k + 1] + di * w[2 * k];
  }
#pragma endscop
}
RUN(fft_radix2, 8192, fft_radix2(D(0), D(1), n / 2 * 2))

void stockham(double *x, double *y, const double *w, int n, int s)
{
#pragma scop
  for (int p = 0; p < n / 2; p++) {
    for (int q = 0; q < s; q++) {
      double a = x[q + s * p];
      double b = x[q + s * (p + n / 2)];
      y[q + s * (2 * p)] = a + b;
      y[q + s * (2 * p + 1)] = (a - b) * w[p];
    }
  }
#pragma endscop
}
RUN(stockham, 200, stockham(D(0), D(1), D(2), n, 16))

void dft(double *re, double *im, const double *x, int n)
{
#pragma scop
  for (int k = 0; k < n; k++) {
    re[k] = 0;
    im[k] = 0;
    for (int t = 0; t < n; t++) {
      double angle = 2.0 * 3.14159265358979 * t * k / n;
      re[k] += x[t] * cos(angle);
      im[k] -= x[t] * sin(angle);
    }
  }
#pragma endscop
}
RUN(dft, 150, dft(D(0), D(1), D(2), n))

void dct8(float *out, const float *in, const float *c, int blocks)
{
#pragma scop
  for (int b = 0; b < blocks; b++)
    for (int u = 0; u < 8; u++) {
      float s = 0;
      for (int x = 0; x < 8; x++)
        s += in[b * 8 + x] * c[u * 8 + x];
      out[b * 8 + u] = s;
    }
#pragma endscop
}
RUN(dct8, 1500, dct8(F(0), F(1), F(2), n))

void idct_blocks(float *img, const float *coef, const float *c, int w, int h)
{
#pragma scop
  for (int by = 0; by < h / 8; by++)
    for (int bx = 0; bx < w / 8; bx++)
      for (int y = 0; y < 8; y++)
        for (int x = 0; x < 8; x++) {
          float s = 0.f;
          for (int u = 0; u < 8; u++)
            s += coef[(by * 8 + y) * w + bx * 8 + u] * c[u * 8 + x];
          img[(by * 8 + y) * w + bx * 8 + x] = s;
        }
#pragma endscop
}
RUN(idct_blocks, 128, idct_blocks(F(0), F(1), F(2), n, n))

void fir(float *y, const float *x, const float *h, int n, int taps)
{
#pragma scop
  for (int i = 0; i < n - taps + 1; i++) {
    y[i] = 0.0f;
    for (int k = 0; k < taps; k++)
      y[i] += h[k] * x[i + taps - 1 - k];
  }
#pragma endscop
}
RUN(fir, 6000, fir(F(0), F(1), F(2), n, 16))

void iir(double *y, const double *x, int n, double a1, double a2, double b0)
{
#pragma scop
  for (int i = 2; i < n; i++)
    y[i] = b0 * x[i] - a1 * y[i - 1] - a2 * y[i - 2];
#pragma endscop
}
RUN(iir, 6000, iir(D(0), D(1), n, -0.5, 0.25, 0.125))

void biquad_channels(float *x, float *z1, float *z2, int frames, int channels)
{
#pragma scop
  for (int i = 0; i < frames; i++) {
    for (int c = 0; c < channels; c++) {
      float in = x[i * channels + c];
      float out = in * 0.25f + z1[c];
      z1[c] = in * 0.5f + z2[c] - 0.125f * out;
      z2[c] = in * 0.25f - 0.0625f * out;
      x[i * channels + c] = out;
    }
  }
#pragma endscop
}
RUN(biquad_channels, 300, biquad_channels(F(0), F(1), F(2), n, n < 32 ? n : 32))

void autocorrelation(double *r, const double *x, int n, int lags)
{
#pragma scop
  for (int k = 0; k < lags; k++) {
    double s = 0.0;
    for (int i = k; i < n; i++)
      s += x[i] * x[i - k];
    r[k] = s;
  }
#pragma endscop
}
RUN(autocorrelation, 2000, autocorrelation(D(0), D(1), n, n < 32 ? n : 32))

void haar(float *out, const float *in, int n)
{
  int half = n / 2;
#pragma scop
  for (int i = 0; i < half; i++) {
    out[i] = (in[2 * i] + in[2 * i + 1]) * 0.70710678f;
    out[half + i] = (in[2 * i] - in[2 * i + 1]) * 0.70710678f;
  }
#pragma endscop
}
RUN(haar, 16000, haar(F(0), F(1), n))

void lifting_rows(int *img, int w, int h)
{
#pragma scop
  for (int y = 0; y < h; y++) {
    int *row = img + y * w;
    for (int x = 1; x < w - 1; x += 2)
      row[x] -= (row[x - 1] + row[x + 1]) >> 1;
    for (int x = 2; x < w - 1; x += 2)
      row[x] += (row[x - 1] + row[x + 1] + 2) >> 2;
  }
#pragma endscop
}
RUN(lifting_rows, 300, lifting_rows(I(0), n, n))

void window(float *out, const float *in, const float *win, int frames, int size, int hop)
{
#pragma scop
  for (int f = 0; f < frames; f++)
    for (int i = 0; i < size; i++)
      out[f * size + i] = in[f * hop + i] * win[i];
#pragma endscop
}
RUN(window, 200, window(F(0), F(1), F(2), n, n, n / 2))

void interleave(float *out, const float *left, const float *right, int n)
{
#pragma scop
  int i = 0, o = 0;
  while (i < n) {
    out[o++] = left[i];
    out[o++] = right[i];
    i++;
  }
#pragma endscop
}
RUN(interleave, 8000, interleave(F(0), F(1), F(2), n))

void mix16(short *out, const short *a, const short *b, int n)
{
#pragma scop
  for (int i = 0; i < n; i++) {
    int s = a[i] + b[i];
    if (s > 32767) s = 32767;
    else if (s < -32768) s = -32768;
    out[i] = (short)s;
  }
#pragma endscop
}
RUN(mix16, 8000, mix16((short *)L(0), (short *)L(1), (short *)L(2), n))

void resample(float *out, const float *in, int n, float ratio)
{
#pragma scop
  for (int i = 0; i < n; i++) {
    float pos = i * ratio;
    int k = (int)pos;
    float frac = pos - k;
    out[i] = in[k] * (1.0f - frac) + in[k + 1] * frac;
  }
#pragma endscop
}
RUN(resample, 8000, resample(F(0), F(1), n, 0.75f))

void power_spectrum(float *p, const float *complex, int n)
{
#pragma scop
  for (int i = 0; i < n; i++)
    p[i] = 10.0f * log10f(complex[2 * i] * complex[2 * i] + complex[2 * i + 1] * complex[2 * i + 1]);
#pragma endscop
}
RUN(power_spectrum, 3000, power_spectrum(F(0), F(1), n))
