/* Literals, promotions, conversions, truth values: what C does silently. */
#include "harness.h"
#include <math.h>

#ifdef LARGE
#define N_DEFAULT 100000
#else
#define N_DEFAULT 60
#endif
#ifndef N
#define N N_DEFAULT
#endif

static void kernel_conversions(int n, float f[restrict n], double d[restrict n], int w[restrict n],
                               long v[restrict n], _Bool b[restrict n])
{
  float s = 0.3f;
  long big = 123456789;
  short tiny = -7;
  unsigned char byte = 200;
#pragma scop
  for (int i = 0; i < n; i++) {
    f[i] += 0.1;
    f[i] = 0.1f * f[i];
    f[i] = 0.1 * f[i] + d[i];
    f[i] -= 1;
    f[i] /= 3;
    f[i] *= 1.0 / 3;
    d[i] += f[i] * s;
    d[i] = f[i] * d[i] + i * i;
    d[i] = d[i] + i / 2 + 1 / 2 + 1.0 / 2;
    d[i] = d[i] - (float)d[i];
    d[i] += (int)(d[i] * 1e6);
    d[i] -= d[i] * 0x1p-3;
    d[i] = -d[i] + +s - big * tiny + byte;
    w[i] = w[i] * w[i] % 7 - w[i] / 3;
    w[i] += v[i];
    w[i] -= v[i] * 0.25;
    w[i]++;
    --v[i];
    v[i] += w[i] * (long)w[i] * w[i];
    v[i] = v[i] % 1000 + 3000000000 - i;
    v[i] *= 1.5f;
    b[i] = d[i] > 0 && !b[i] ? b[i] : w[i];
    w[i] += (d[i] < 1) + b[i] + (i == 3) - !w[i];
    w[i] = b[i] || i % 3 ? w[i] : 'a';
    d[i] += w[i] > v[i] ? w[i] : v[i];
    d[i] = d[i] > 1 ? d[i] : (i < 5 ? 1.25f : 1);
    f[i] = i % 2 ? f[i] : s + tiny;
    d[i] += fabs(f[i]) + floorf(f[i]) + abs(w[i]) + pow(f[i], 2) + fmax(f[i], d[i]) + fminf(f[i], 2) + (i > 3);
    b[i] = f[i];
  }
#pragma endscop
}

int main(int argc, char **argv)
{
  int n = SIZE(N);
  float *f = harness_alloc((size_t)n, sizeof(float));
  double *d = harness_alloc((size_t)n, sizeof(double));
  int *w = harness_alloc((size_t)n, sizeof(int));
  long *v = harness_alloc((size_t)n, sizeof(long));
  _Bool *b = harness_alloc((size_t)n, sizeof(_Bool));
  harness_open(argc, argv);
  for (int rep = 0; rep < REPS; rep++) {
    for (size_t k = 0; k < (size_t)n; k++)
      f[k] = (float)(harness_unit(1, k) - 0.5);
    for (size_t k = 0; k < (size_t)n; k++)
      d[k] = (double)(harness_unit(2, k) - 0.5);
    for (size_t k = 0; k < (size_t)n; k++)
      ((int *)w)[k] = harness_below(3, k, 41) - 20;
    for (size_t k = 0; k < (size_t)n; k++)
      ((long *)v)[k] = harness_below(4, k, 20001) - 10000;
    for (size_t k = 0; k < (size_t)n; k++)
      ((_Bool *)b)[k] = harness_below(5, k, 2) == 1;
    harness_start();
    kernel_conversions(n, f, d, w, v, b);
    harness_stop();
  }
  OUTPUT("f", (float *)f, (size_t)n);
  OUTPUT("d", (double *)d, (size_t)n);
  OUTPUT("w", (int *)w, (size_t)n);
  OUTPUT("v", (long *)v, (size_t)n);
  OUTPUT("b", (_Bool *)b, (size_t)n);
  free(f);
  free(d);
  free(w);
  free(v);
  free(b);
  return harness_finish("conversions");
}
