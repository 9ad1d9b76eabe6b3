/* The Yule-Walker equations of a Toeplitz matrix, by Durbin. */
#include "harness.h"

#ifndef DATA_TYPE
#define DATA_TYPE double
#endif
#ifdef LARGE
#define N_DEFAULT 2000
#else
#define N_DEFAULT 40
#endif
#ifndef N
#define N N_DEFAULT
#endif

static void kernel_durbin(int n, DATA_TYPE r[restrict n], DATA_TYPE y[restrict n], DATA_TYPE z[restrict n])
{
  DATA_TYPE alpha, beta, sum;
  if (n < 1)
    return;
#pragma scop
  y[0] = -r[0];
  beta = 1;
  alpha = -r[0];
  for (int k = 1; k < n; k++) {
    beta = (1 - alpha * alpha) * beta;
    sum = 0;
    for (int i = 0; i < k; i++)
      sum += r[k - i - 1] * y[i];
    alpha = -(r[k] + sum) / beta;
    for (int i = 0; i < k; i++)
      z[i] = y[i] + alpha * y[k - i - 1];
    for (int i = 0; i < k; i++)
      y[i] = z[i];
    y[k] = alpha;
  }
#pragma endscop
}

int main(int argc, char **argv)
{
  int n = SIZE(N);
  DATA_TYPE *r = harness_alloc((size_t)n, sizeof(DATA_TYPE));
  DATA_TYPE *y = harness_alloc((size_t)n, sizeof(DATA_TYPE));
  DATA_TYPE *z = harness_alloc((size_t)n, sizeof(DATA_TYPE));
  harness_open(argc, argv);
  for (int rep = 0; rep < REPS; rep++) {
    for (size_t k = 0; k < (size_t)n; k++)
      ((DATA_TYPE *)r)[k] = (DATA_TYPE)(harness_unit(1, k) / (double)(n + 1));
    memset(y, 0, (size_t)n * sizeof(DATA_TYPE));
    memset(z, 0, (size_t)n * sizeof(DATA_TYPE));
    harness_start();
    kernel_durbin(n, r, y, z);
    harness_stop();
  }
  OUTPUT("y", (DATA_TYPE *)y, (size_t)n);
  OUTPUT("z", (DATA_TYPE *)z, (size_t)n);
  free(r);
  free(y);
  free(z);
  return harness_finish("durbin");
}
