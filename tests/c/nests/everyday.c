/* Loops as applications have them around their kernels: buffers that change places after each time
   step, arguments that may be left out, limits of types as first values, helpers that correct their
   parameters or sum up, and rows that are found by data. */
#include <float.h>
#include <stdbool.h>
#include <stddef.h>

#include "driver.h"

void heat_in_two_buffers(int steps, double *u, double *v, int n)
{
  double *now = u, *next = v;
#pragma scop
  for (int t = 0; t < steps; t++) {
    for (int i = 1; i < n - 1; i++)
      next[i] = 0.25 * now[i - 1] + 0.5 * now[i] + 0.25 * now[i + 1];
    double *other = now;
    now = next;
    next = other;
  }
#pragma endscop
  v[0] = now[n / 2];
}
RUN(heat_in_two_buffers, 4000, heat_in_two_buffers(n % 71, D(0), D(1), n))

void plate_in_two_buffers(int steps, const double *c, double *u, double *v, int n)
{
  double *other;
#pragma scop
  for (int t = 1; t <= steps; t++) {
    for (int i = 1; i < n - 1; i++)
      for (int j = 1; j < n - 1; j++)
        v[i * n + j] = u[i * n + j] + c[i * n + j] * (u[(i - 1) * n + j] + u[(i + 1) * n + j]
          + u[i * n + j - 1] + u[i * n + j + 1] - 4 * u[i * n + j]);
    other = u;
    u = v;
    v = other;
  }
#pragma endscop
  u[0] += v[0];
}
RUN(plate_in_two_buffers, 200, plate_in_two_buffers(n % 31, D(0), D(1), D(2), n))

void wave_in_three_buffers(int steps, double *before, double *now, double *after, int n)
{
#pragma scop
  for (int t = 0; t < steps; t++) {
    for (int i = 1; i < n - 1; i++) {
      double bend = now[i - 1] - 2 * now[i] + now[i + 1];
      after[i] = 2 * now[i] - before[i] + 0.1 * bend;
    }
    double *oldest = before;
    before = now;
    now = after;
    after = oldest;
  }
#pragma endscop
  before[0] = now[0] - after[0];
}
RUN(wave_in_three_buffers, 3000, wave_in_three_buffers(n % 13, D(0), D(1), D(2), n))

void wave_in_place(int steps, double *before, double *now, const double *c, int n)
{
#pragma scop
  for (int t = steps; t > 0; t--) {
    for (int i = 1; i < n - 1; i++)
      before[i] = 2 * now[i] - before[i] + c[i] * (now[i - 1] - 2 * now[i] + now[i + 1]);
    double *other = before;
    before = now;
    now = other;
  }
#pragma endscop
}
RUN(wave_in_place, 3000, wave_in_place(n % 40, D(0), D(1), D(2), n))

int edit_distance_in_two_rows(const unsigned char *s, const unsigned char *t, int *before, int *now, int n)
{
  for (int j = 0; j <= n; j++)
    before[j] = j;
#pragma scop
  for (int i = 1; i <= n; i++) {
    now[0] = i;
    for (int j = 1; j <= n; j++) {
      int best = before[j - 1] + (s[i - 1] != t[j - 1]);
      if (before[j] + 1 < best)
        best = before[j] + 1;
      if (now[j - 1] + 1 < best)
        best = now[j - 1] + 1;
      now[j] = best;
    }
    int *other = before;
    before = now;
    now = other;
  }
#pragma endscop
  return before[n];
}
RUN(edit_distance_in_two_rows, 300, I(2)[0] = edit_distance_in_two_rows(B(0), B(1), I(0), I(1), n))

void dense_with_optional_bias(float *out, const float *x, const float *w, const float *bias, int n)
{
#pragma scop
  for (int i = 0; i < n; i++)
    for (int o = 0; o < n; o++) {
      float sum = bias != NULL ? bias[o] : 0.0f;
      for (int k = 0; k < n; k++)
        sum += x[i * n + k] * w[o * n + k];
      out[i * n + o] = sum;
    }
#pragma endscop
}
RUN(dense_with_optional_bias, 150, dense_with_optional_bias(F(0), F(1), F(2), F(3), n))
RUN(dense_without_bias, 150, dense_with_optional_bias(F(0), F(1), F(2), NULL, n))

void normalise_with_options(float *x, const float *scale, const float *shift, int n)
{
#pragma scop
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) {
      float value = x[i * n + j];
      if (scale)
        value *= scale[j];
      if (shift)
        value += shift[j];
      x[i * n + j] = value;
    }
#pragma endscop
}
RUN(normalise_with_options, 300, normalise_with_options(F(0), F(1), NULL, n))

void quantised_product(uint8_t *c, const uint8_t *a, const int8_t *b, const int32_t *bias, size_t n)
{
#pragma scop
  for (size_t i = 0; i < n; ++i)
    for (size_t j = 0; j < n; ++j) {
      int32_t sum = bias ? bias[j] : 0;
      for (size_t k = 0; k < n; ++k)
        sum += ((int32_t)a[i * n + k] - 3) * b[k * n + j];
      float scaled = roundf((float)sum * 0.001f) + 7.0f;
      if (scaled < 0)
        scaled = 0;
      if (scaled > 255)
        scaled = 255;
      c[i * n + j] = (uint8_t)scaled;
    }
#pragma endscop
}
RUN(quantised_product, 150, quantised_product(B(0), B(1), (int8_t *)B(2), I(0), (size_t)n))

void viterbi_step(double *v, int *from, const double *before, const double *trans, int n)
{
#pragma scop
  for (int s = 0; s < n; s++) {
    double best = -DBL_MAX;
    int arg = 0;
    for (int r = 0; r < n; r++) {
      double score = before[r] + trans[r * n + s];
      if (score > best) {
        best = score;
        arg = r;
      }
    }
    v[s] = best;
    from[s] = arg;
  }
#pragma endscop
}
RUN(viterbi_step, 300, viterbi_step(D(0), I(0), D(1), D(2), n))

static int clamped(int x, int low, int high)
{
  if (x < low)
    x = low;
  else if (x > high)
    x = high;
  return x;
}

void blur_with_clamped_borders(unsigned char *out, const unsigned char *in, int n)
{
#pragma scop
  for (int y = 0; y < n; y++)
    for (int x = 0; x < n; x++) {
      int sum = 0;
      for (int dy = -1; dy <= 1; dy++)
        for (int dx = -1; dx <= 1; dx++)
          sum += in[clamped(y + dy, 0, n - 1) * n + clamped(x + dx, 0, n - 1)];
      out[y * n + x] = sum / 9;
    }
#pragma endscop
}
RUN(blur_with_clamped_borders, 200, blur_with_clamped_borders(B(0), B(1), n))

static float pixel(const float *image, int height, int width, int row, int col, int pad)
{
  row -= pad;
  col -= pad;
  if (row < 0 || col < 0 || row >= height || col >= width)
    return 0;
  return image[col + width * row];
}

void unfolded(float *out, const float *image, int size, int n)
{
#pragma scop
  for (int c = 0; c < size * size; ++c) {
    int dx = c % size, dy = c / size;
    for (int h = 0; h < n; ++h)
      for (int w = 0; w < n; ++w)
        out[(c * n + h) * n + w] = pixel(image, n, n, dy + h, dx + w, 1);
  }
#pragma endscop
}
RUN(unfolded, 40, unfolded(F(0), F(1), 3, n))

static double horner(const double *c, size_t n, double x)
{
  double sum = 0;
  for (size_t i = n; i-- > 0;)
    sum = sum * x + c[i];
  return sum;
}

void polynomials_by_a_helper(double *y, const double *c, const double *x, size_t n)
{
#pragma scop
  for (size_t k = 0; k < n; k++)
    y[k] = horner(c, n, x[k]);
#pragma endscop
}
RUN(polynomials_by_a_helper, 400, polynomials_by_a_helper(D(0), D(1), D(2), (size_t)n))

static float distance(const float *a, const float *b, int n)
{
  float sum = 0.0f;
  for (int k = 0; k < n; k++) {
    float d = a[k] - b[k];
    sum += d * d;
  }
  return sum;
}

void nearest(int *label, const float *x, const float *centres, int n)
{
#pragma scop
  for (int i = 0; i < n; i++) {
    float least = FLT_MAX;
    int at = -1;
    for (int j = 0; j < n; j++) {
      float d = distance(x + i * n, centres + j * n, n);
      if (d < least) {
        least = d;
        at = j;
      }
    }
    label[i] = at;
  }
#pragma endscop
}
RUN(nearest, 120, nearest(I(0), F(0), F(1), n))

void sparse_rows_times_dense(double *c, const int *start, const int *col, const double *v, const double *b,
                             int n)
{
#pragma scop
  for (int i = 0; i < n; i++) {
    double *row = c + (size_t)i * n;
    for (int j = 0; j < n; j++)
      row[j] = 0;
    for (int p = start[i]; p < start[i + 1]; p++) {
      const double *other = b + (size_t)col[p] * n;
      double a = v[p];
      for (int j = 0; j < n; j++)
        row[j] += a * other[j];
    }
  }
#pragma endscop
}
RUN(sparse_rows_times_dense, 200, sparse_rows_times_dense(D(0), STARTS, I(0), D(1), D(2), n))

void embedding_rows(float *out, const float *table, const int *word, size_t n)
{
#pragma scop
  for (size_t t = 0; t < n; t++)
    for (size_t k = 0; k < n; k++)
      out[t * n + k] = table[(size_t)word[t] * n + k];
#pragma endscop
}
RUN(embedding_rows, 300, embedding_rows(F(0), F(1), I(0), (size_t)n))

void sweep_with_residual(double *v, const double *u, const double *rhs, double *res, int n)
{
  double most = 0;
#pragma scop
  for (int i = 1; i < n - 1; i++)
    for (int j = 1; j < n - 1; j++) {
      v[i * n + j] = 0.25 * (u[(i - 1) * n + j] + u[(i + 1) * n + j] + u[i * n + j - 1]
        + u[i * n + j + 1] - rhs[i * n + j]);
      double change = fabs(v[i * n + j] - u[i * n + j]);
      if (change > most)
        most = change;
    }
#pragma endscop
  *res = most;
}
RUN(sweep_with_residual, 400, sweep_with_residual(D(0), D(1), D(2), D(3), n))

float farthest(const float *x, const float *y, float far, int n)
{
#pragma scop
  for (int i = 0; i < n; i++) {
    float d = (x[i] - y[i]) * (x[i] - y[i]);
    if (far <= d)
      far = d;
  }
#pragma endscop
  return far;
}
RUN(farthest, 6000, F(2)[0] = farthest(F(0), F(1), F(2)[1], n))

void best_of_rows(double *best, int *at, const double *x, int n)
{
#pragma scop
  for (int i = 0; i < n; i++) {
    double most = x[i * n];
    int where = 0;
    for (int j = 1; j < n; j++)
      if (x[i * n + j] > most) {
        most = x[i * n + j];
        where = j;
      }
    best[i] = most;
    at[i] = where;
  }
#pragma endscop
}
RUN(best_of_rows, 400, best_of_rows(D(0), I(0), D(1), n))

static double weighted(const double *a, const double *b, int n)
{
  double s = 0;
  for (int i = 0; i < n; i++)
    s += a[i] * b[i];
  return s;
}

void masked_products(double *out, const double *x, const double *w, const int *kind, int n)
{
#pragma scop
  for (int i = 0; i < n; i++) {
    out[i] = kind[i] % 3 ? weighted(x + i * n, w, n) : 0;
    if (kind[i] % 2 == 0 && weighted(x + i * n, x + i * n, n) > 1)
      out[i] /= 2;
  }
#pragma endscop
}
RUN(masked_products, 300, masked_products(D(0), D(1), D(2), I(0), n))
