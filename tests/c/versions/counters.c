/* Counters that may wrap around, loops in a nest that may not run, and planes that may be too small. */
#include <stdio.h>

static void wraps(int m, unsigned k, double *restrict x)
{
#pragma scop
  for (int i = 0; i < m; i++) {
    x[k] += i;
    k += 3;
  }
#pragma endscop
}

static void packed(int n, int m, double *restrict x, const double *restrict y)
{
  int k = 0;
#pragma scop
  for (int i = 0; i < n; i++) {
    for (int j = 0; j < m; j++)
      x[k++] = y[j] + i;
    for (int j = 0; j < m; j++)
      x[i * m + j] *= 2;
  }
#pragma endscop
  printf("%d\n", k);
}

static void planes(int c, int h, int w, int height, int width, double *restrict x, const double *restrict y)
{
#pragma scop
  for (int k = 0; k < c; k++)
    for (int i = 0; i < h; i++)
      for (int j = 0; j < w; j++)
        x[(k * height + i) * width + j] += y[j] * x[(k / 2 * height + i) * width + j + k % 2];
#pragma endscop
}

int main(void)
{
  static double x[40000], y[40000];
  for (int i = 0; i < 40000; i++)
    x[i] = y[i] = i % 17;
  wraps(10000, 7, x);
  wraps(0, 4000000000u, x);
  packed(100, 200, x, y);
  packed(7, -3, x, y);
  packed(3, 0, x, y);
  planes(10, 20, 30, 22, 32, x, y);
  planes(10, 20, 30, 20, 29, x, y);
  planes(10, 20, 30, 13, 40, x, y);
  double s = 0;
  for (int i = 0; i < 40000; i++)
    s = s * 0.999 + x[i];
  printf("%a\n", s);
  return 0;
}
