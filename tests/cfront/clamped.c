// Indices that conditions correct: `if (i < 0) i = 0;` is the larger of both.
static float middle(float a, float b) { return 0.5f * (a + b); }
static const float weights[3] = {0.25f, 0.5f, 0.25f};

void smooth(const float *in, float *out, int w, int h, int r)
{
#pragma scop
  for (int y = 0; y < h; y++)
    for (int x = 0; x < w; x++) {
      static const float side[2] = {0.5f, 2.0f};
      float sum = 0.0f;
      for (int d = -r; d <= r; d++) {
        int yy = y + d, xx = x + d;
        if (yy < 0)
          yy = 0;
        if (yy >= h)
          yy = h - 1;
        if (xx < 0)
          xx = 0;
        else if (xx > w - 1)
          xx = w - 1;
        sum += in[yy * w + xx] * weights[1] * side[0];
      }
      int k = x;
      if (k > 0)
        k -= 1;
      else
        k = 0;
      out[y * w + x] = middle(sum, in[y * w + k]);
    }
#pragma endscop
}

// What a condition on data sets is data.
void moved(int n, const int *restrict step, const float *restrict in, float *restrict out)
{
#pragma scop
  for (int i = 0; i < n; i++) {
    int k = i;
    if (step[i] > 0)
      k = 0;
    out[i] = in[k];
  }
#pragma endscop
}
