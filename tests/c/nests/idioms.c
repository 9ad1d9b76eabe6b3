/* Ways to write loops: guards by goto, continue and switch, several variables in a header, helpers,
   pointers that run, members of structures, loops that count down, printing behind a nest. */
#include "driver.h"

static inline double square(double x) { return x * x; }

static inline void swap(double *x, double *y)
{
  double t = *x;
  *x = *y;
  *y = t;
}

static inline void accumulate(double *sum, double value) { *sum += value; }

#define SQ(x) ((x) * (x))

struct particle { double x, y, z, vx, vy, vz, m; };

void nbody_forces(struct particle *p, double *fx, double *fy, double *fz, int n)
{
#pragma scop
  for (int i = 0; i < n; i++) {
    fx[i] = 0.0;
    fy[i] = 0.0;
    fz[i] = 0.0;
    for (int j = 0; j < n; j++) {
      double dx = p[j].x - p[i].x;
      double dy = p[j].y - p[i].y;
      double dz = p[j].z - p[i].z;
      double d2 = dx * dx + dy * dy + dz * dz + 1e-9;
      double inv = 1.0 / sqrt(d2);
      double inv3 = inv * inv * inv;
      fx[i] += p[j].m * dx * inv3;
      fy[i] += p[j].m * dy * inv3;
      fz[i] += p[j].m * dz * inv3;
    }
  }
#pragma endscop
}
RUN(nbody_forces, 300, nbody_forces((struct particle *)D(0), D(1), D(2), D(3), n))

void integrate(struct particle *p, const double *fx, double dt, int n)
{
#pragma scop
  for (int i = 0; i < n; i++) {
    p[i].vx += dt * fx[i] / p[i].m;
    p[i].x += dt * p[i].vx;
    p[i].y += dt * p[i].vy;
    p[i].z += dt * p[i].vz;
  }
#pragma endscop
}
RUN(integrate, 3000, integrate((struct particle *)D(0), D(1), 0.01, n))

void skip_zero(double *y, const double *x, int n)
{
#pragma scop
  for (int i = 0; i < n; i++) {
    if (x[i] == 0.5)
      continue;
    y[i] = 1.0 / x[i];
  }
#pragma endscop
}
RUN(skip_zero, 6000, skip_zero(D(0), D(1), n))

void goto_next(double *y, const double *x, int n)
{
#pragma scop
  for (int i = 0; i < n; i++) {
    if (x[i] < 0.75)
      goto next;
    y[i] = sqrt(x[i]);
  next:;
  }
#pragma endscop
}
RUN(goto_next, 6000, goto_next(D(0), D(1), n))

void goto_else(double *a, const double *b, const double *c, int n)
{
#pragma scop
  for (int i = 0; i < n; i++) {
    if (b[i] > c[i])
      goto L20;
    a[i] = a[i] + b[i] * c[i];
    goto L10;
  L20:
    a[i] = a[i] - c[i];
  L10:;
  }
#pragma endscop
}
RUN(goto_else, 6000, goto_else(D(0), D(1), D(2), n))

void by_kind(double *y, const int *kind, const double *x, int n)
{
#pragma scop
  for (int i = 0; i < n; i++) {
    switch (kind[i] % 3) {
    case 0:
      y[i] = x[i];
      break;
    case 1:
      y[i] = -x[i];
      break;
    default:
      y[i] = 0.0;
    }
  }
#pragma endscop
}
RUN(by_kind, 6000, by_kind(D(0), I(0), D(1), n))

void by_mode(double *y, const double *x, int n, int mode)
{
#pragma scop
  switch (mode) {
  case 0:
    for (int i = 0; i < n; i++)
      y[i] = x[i] + 1.0;
    break;
  case 1:
  case 2:
    for (int i = 0; i < n; i++)
      y[i] = x[i] * 2.0;
    break;
  }
#pragma endscop
}
RUN(by_mode, 6000, by_mode(D(0), D(1), n, 2))

void squares(double *y, const double *x, int n)
{
#pragma scop
  for (int i = 0; i < n; i++)
    y[i] = square(x[i]) + SQ(x[i] - 1.0);
#pragma endscop
}
RUN(squares, 6000, squares(D(0), D(1), n))

void reverse(double *x, int n)
{
#pragma scop
  int i, j;
  for (i = 0, j = n - 1; i < j; i++, j--)
    swap(&x[i], &x[j]);
#pragma endscop
}
RUN(reverse, 6000, reverse(D(0), n))

void row_sums(double *sums, double **a, int n)
{
#pragma scop
  for (int i = 0; i < n; i++) {
    sums[i] = 0;
    for (int j = 0; j < n; j++)
      accumulate(&sums[i], a[i][j]);
  }
#pragma endscop
}
RUN(row_sums, 300, row_sums(D(1), ROWS(0), n))

void running_pointers(float *dst, const float *src, int n)
{
#pragma scop
  const float *s = src;
  float *d = dst;
  for (int i = 0; i < n; i++)
    *d++ = *s++ * 2.0f;
#pragma endscop
}
RUN(running_pointers, 12000, running_pointers(F(0), F(1), n))

void end_pointer(float *p, int n)
{
#pragma scop
  float *end = p + n;
  for (; p < end; p++)
    *p += 1.0f;
#pragma endscop
}
RUN(end_pointer, 12000, end_pointer(F(0), n))

void count_down(double *x, int n)
{
#pragma scop
  while (n--)
    x[n] *= 0.5;
#pragma endscop
}
RUN(count_down, 6000, count_down(D(0), n))

void steps_of(double *x, int n, int b)
{
#pragma scop
  for (int i = 0; i < n; i += b)
    x[i] = 1.0;
#pragma endscop
}
RUN(steps_of, 6000, steps_of(D(0), n, 3))

void tiles_of(double *a, int n, int b)
{
#pragma scop
  for (int ii = 0; ii < n; ii += b)
    for (int i = ii; i < (ii + b < n ? ii + b : n); i++)
      for (int j = 0; j < n; j++)
        a[i * n + j] *= 2.0;
#pragma endscop
}
RUN(tiles_of, 300, tiles_of(D(0), n, 16))

static char line[100];

void told(double *x, int n)
{
#pragma scop
  double sum = 0.0;
  for (int i = 0; i < n; i++) {
    x[i] = x[i] * 0.5 + 1.0;
    sum += x[i];
  }
  snprintf(line, sizeof line, "sum %g\n", sum);
#pragma endscop
}
RUN(told, 3000, told(D(0), n))

void scaled(double *x, const double *y, int n, int e)
{
#pragma scop
  for (int i = 0; i < n; i++)
    x[i] = ldexp(y[i], e) + hypot(x[i], y[i]) + cbrt(y[i]) + copysign(1.0, x[i]);
#pragma endscop
}
RUN(scaled, 1500, scaled(D(0), D(1), n, 3))

void two_results(double *lo, double *hi, const double *x, int n)
{
  double least = 1e300, most = -1e300;
#pragma scop
  for (int i = 0; i < n; i++) {
    least = fmin(least, x[i]);
    most = fmax(most, x[i]);
  }
#pragma endscop
  *lo = least;
  *hi = most;
}
RUN(two_results, 6000, two_results(D(1), D(2), D(0), n))

void comma(double *x, int n)
{
#pragma scop
  int i;
  double t;
  for (i = 0; i < n; i++)
    t = x[i] * 0.5, x[i] = (t += 1.0, t * t);
#pragma endscop
}
RUN(comma, 6000, comma(D(0), n))

void search(int *found, const double *x, int n, double value)
{
#pragma scop
  *found = -1;
  for (int i = 0; i < n; i++) {
    if (x[i] == value) {
      *found = i;
      break;
    }
  }
#pragma endscop
}
RUN(search, 6000, search(I(0), D(0), n, 5.0))

void monte_carlo(double *sums, unsigned *seeds, int n)
{
#pragma scop
  for (int i = 0; i < n; i++) {
    unsigned s = seeds[i];
    double t = 0.0;
    for (int k = 0; k < 16; k++) {
      s = s * 1664525u + 1013904223u;
      t += (s >> 8) * (1.0 / 16777216.0);
    }
    seeds[i] = s;
    sums[i] = t;
  }
#pragma endscop
}
RUN(monte_carlo, 1500, monte_carlo(D(0), (unsigned *)I(0), n))

void crc_bits(unsigned *table)
{
#pragma scop
  for (int i = 0; i < 256; i++) {
    unsigned c = (unsigned)i;
    for (int k = 0; k < 8; k++)
      c = (c & 1) ? 0xEDB88320u ^ (c >> 1) : c >> 1;
    table[i] = c;
  }
#pragma endscop
}
RUN(crc_bits, 1, crc_bits((unsigned *)I(0)))

void mandelbrot(int *count, int w, int h)
{
#pragma scop
  for (int y = 0; y < h; y++)
    for (int x = 0; x < w; x++) {
      double cr = 3.0 * x / w - 2.0, ci = 2.0 * y / h - 1.0, zr = 0, zi = 0;
      int k = 0;
      for (int it = 0; it < 30; it++) {
        double t = zr * zr - zi * zi + cr;
        double u = 2 * zr * zi + ci;
        if (zr * zr + zi * zi <= 4.0) {
          zr = t;
          zi = u;
          k++;
        }
      }
      count[y * w + x] = k;
    }
#pragma endscop
}
RUN(mandelbrot, 90, mandelbrot(I(0), n, n))

void life(unsigned char *next, const unsigned char *now, int n)
{
#pragma scop
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) {
      int alive = 0;
      for (int di = -1; di <= 1; di++)
        for (int dj = -1; dj <= 1; dj++)
          if (di != 0 || dj != 0)
            alive += now[(i + di + n) % n * n + (j + dj + n) % n] & 1;
      next[i * n + j] = alive == 3 || (alive == 2 && (now[i * n + j] & 1));
    }
#pragma endscop
}
RUN(life, 150, life(B(0), B(1), n))

void do_while(double *x, int n)
{
#pragma scop
  int i = 0;
  do {
    x[i] = x[i] + 2.0;
    i++;
  } while (i < n);
#pragma endscop
}
RUN(do_while, 6000, do_while(D(0), n))

void size_t_loops(double *x, size_t n)
{
#pragma scop
  for (size_t i = 0; i + 1 < n; ++i)
    x[i] = 0.5 * (x[i] + x[i + 1]);
#pragma endscop
}
RUN(size_t_loops, 6000, size_t_loops(D(0), (size_t)n))

void polynomials(double *y, const double *x, const double *c, int n, int degree)
{
#pragma scop
  for (int i = 0; i < n; i++) {
    double s = c[degree];
    for (int k = degree - 1; k >= 0; --k)
      s = s * x[i] + c[k];
    y[i] = s;
  }
#pragma endscop
}
RUN(polynomials, 2000, polynomials(D(0), D(1), D(2), n, 9))

void bubble_pass(int *x, int n)
{
#pragma scop
  for (int i = 0; i < n - 1; i++)
    for (int j = 0; j < n - 1 - i; j++)
      if (x[j] > x[j + 1]) {
        int t = x[j];
        x[j] = x[j + 1];
        x[j + 1] = t;
      }
#pragma endscop
}
RUN(bubble_pass, 200, bubble_pass(I(0), n))

void prefix_sums(long *x, int n)
{
#pragma scop
  for (int i = 1; i < n; i++)
    x[i] += x[i - 1];
#pragma endscop
}
RUN(prefix_sums, 12000, prefix_sums(L(0), n))
