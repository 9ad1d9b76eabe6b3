/* Subscripts that are neither affine nor rows and columns: where they go is found before the region,
   in intervals. Arrays are apart in some calls, and overlap in others. */
#include <stdio.h>

static float memory[4000];
static int numbers[400];

static void fill(void)
{
  for (int i = 0; i < 4000; i++)
    memory[i] = (float)((i * 7) % 101) * 0.25f;
  for (int i = 0; i < 400; i++)
    numbers[i] = (i * 5) % 12;
}

static void show(const char *name)
{
  double sum = 0.0;
  for (int i = 0; i < 4000; i++)
    sum += memory[i] * (i % 17 + 1);
  printf("%s %.3f\n", name, sum);
}

/* A stride that is a parameter. */
void pool(float *out, float *in, int h, int w, int stride, int size)
{
#pragma scop
  for (int i = 0; i < h; i++)
    for (int j = 0; j < h; j++) {
      float most = -1.0f;
      for (int k = 0; k < size; k++) {
        int at = (i * stride + k) * w + j * stride + k;
        most = in[at] > most ? in[at] : most;
      }
      out[i * h + j] = most;
    }
#pragma endscop
}

/* The probability of a word in each row. */
void loss(float *losses, float *probs, int *words, int t, int v)
{
#pragma scop
  for (int j = 0; j < t; j++) {
    float *row = probs + j * v;
    int word = words[j];
    losses[j] = row[word] * 0.5f;
  }
#pragma endscop
}

/* A row by data, through a pointer. */
void embed(float *out, float *table, int *words, int t, int c)
{
#pragma scop
  for (int i = 0; i < t; i++) {
    int word = words[i];
    float *row = table + word * c;
    for (int j = 0; j < c; j++)
      out[i * c + j] = row[j] * 0.5f;
  }
#pragma endscop
}

/* Quotients and remainders by a parameter. */
void columns(float *out, float *in, int n, int k, int w)
{
#pragma scop
  for (int c = 0; c < n; c++) {
    int x = c % k;
    int y = c / k % k;
    for (int i = 0; i < w; i++)
      out[c * w + i] = in[x + i + w * (y + c / k / k)] * 0.5f;
  }
#pragma endscop
}

/* A place that floating point gives, which may be negative. */
void resample(float *out, float *in, int n, float ratio)
{
#pragma scop
  for (int i = 0; i < n; i++) {
    float at = i * ratio;
    int k = (int)at;
    out[i] = in[k] + in[k + 1];
  }
#pragma endscop
}

int main(void)
{
  float *m = memory;
  for (int n = 0; n <= 11; n += n < 2 ? 1 : 3) {
    /* Apart, one behind the other, and overlapping. */
    float *outs[] = { m + 3000, m + 1, m + 40, m };
    for (int k = 0; k < 4; k++) {
      fill();
      pool(outs[k], m, n, 2 * n + 3, 2, 3);
      show("pool");
      pool(outs[k], m + 1500, n, n + 3, -1, 2);
      show("backward");
      loss(outs[k], m, numbers, n, 12);
      show("loss");
      embed(outs[k], m + 20, numbers, n, 11);
      show("embed");
      columns(outs[k], m, n, n < 2 ? 1 : 2, 20);
      show("columns");
      resample(outs[k], m, n, 0.75f);
      resample(outs[k], m + 100, n, -1.5f);
      show("resample");
    }
  }
  return 0;
}
