/* Bounds that are products of sizes, as rows of pixels in one loop: `h * w` is a size then. */
void average(float *restrict out, const float *restrict in, int batch, int c, int h, int w)
{
#pragma scop
  for (int b = 0; b < batch; b++)
    for (int k = 0; k < c; k++) {
      float sum = 0;
      for (int i = 0; i < h * w; i++)
        sum += in[i + h * w * (k + b * c)];
      out[k + b * c] = sum / (h * w);
    }
#pragma endscop
}

/* Three factors, and a sum among them. */
void scale(float *x, int n, int h, int w, float s)
{
#pragma scop
  for (int i = 0; i < n * (h - 1) * w; i++)
    x[i] *= s;
#pragma endscop
}

/* Of unsigned sizes a product may wrap around: refused. */
void wraps(float *x, unsigned n, unsigned m)
{
#pragma scop
  for (int i = 0; i < n * m; i++)
    x[i] = 0;
#pragma endscop
}
