/* A stride that is a parameter: the region is for strides of 1, which is tested before it. */
void convolution(float *restrict out, const float *restrict in, const float *restrict f,
                 int c, int h, int w, int oh, int ow, int r, int stride)
{
#pragma scop
  for (int y = 0; y < oh; y++)
    for (int x = 0; x < ow; x++) {
      float sum = 0;
      for (int q = 0; q < c; q++)
        for (int i = 0; i < r; i++)
          for (int j = 0; j < r; j++)
            sum += in[(q * h + y * stride + i) * w + x * stride + j] * f[(q * r + i) * r + j];
      out[y * ow + x] = sum;
    }
#pragma endscop
}

/* Two strides, each in an array of its own. */
void shortcut(float *restrict out, const float *restrict add,
              int h1, int w1, int h2, int w2, int c, int h, int w, int to, int from)
{
#pragma scop
  for (int k = 0; k < c; k++)
    for (int j = 0; j < h; j++)
      for (int i = 0; i < w; i++)
        out[i * to + w2 * (j * to + h2 * k)] += add[i * from + w1 * (j * from + h1 * k)];
#pragma endscop
}

/* The size that bounds the columns is no stride: refused. */
void packed(double *restrict a, int n)
{
#pragma scop
  for (int i = 0; i < n; i++)
    for (int j = 0; j <= i; j++)
      a[i * (i + 1) * n + j] = 0;
#pragma endscop
}
