/* Windows over flat images: rows and columns follow from the width of the window, which is tested. */
void convolve(float *restrict out, const float *restrict in, int w, int h, const float *restrict k, int kw, int kh)
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

/* One pixel of each plane: that it is one of a row is tested. */
void pixel(float *restrict to, const float *restrict from, int w, int h, int n, int x, int y)
{
#pragma scop
  for (int i = 0; i < n; i++)
    to[i] = from[i * w * h + y * w + x];
#pragma endscop
}

/* What a choice guards is known in it. */
void neighbours(double *restrict e, const double *restrict d, int n)
{
#pragma scop
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      e[i * n + j] = (j > 0 ? d[i * n + j - 1] : 0.0) + (j < n - 1 ? d[i * n + j + 1] : 0.0);
#pragma endscop
}

/* Neighbours on a torus: each remainder takes off the size up to two times. */
void torus(double *restrict next, const double *restrict now, int n)
{
#pragma scop
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) {
      double sum = 0;
      for (int di = -1; di <= 1; di++)
        for (int dj = -1; dj <= 1; dj++)
          sum += now[(i + di + n) % n * n + (j + dj + n) % n];
      next[i * n + j] = sum;
    }
#pragma endscop
}
