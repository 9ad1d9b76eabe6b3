/* Downward loops with steps of -2 and -3 and a recurrence along them. */
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

static void kernel_negative_step(int n, DATA_TYPE x[restrict n], DATA_TYPE y[restrict n])
{
#pragma scop
  for (int i = n - 1; i >= 0; i -= 3)
    x[i] = 0.5 * x[i] + i;
  for (int i = n - 3; i > 0; i = i - 2)
    y[i] = y[i + 2] * 0.25 + x[i];
#pragma endscop
}

int main(int argc, char **argv)
{
  int n = SIZE(N);
  DATA_TYPE *x = harness_alloc((size_t)n, sizeof(DATA_TYPE));
  DATA_TYPE *y = harness_alloc((size_t)n, sizeof(DATA_TYPE));
  harness_open(argc, argv);
  for (int rep = 0; rep < REPS; rep++) {
    for (size_t k = 0; k < (size_t)n; k++)
      x[k] = (DATA_TYPE)harness_unit(1, k);
    for (size_t k = 0; k < (size_t)n; k++)
      y[k] = (DATA_TYPE)harness_unit(2, k);
    harness_start();
    kernel_negative_step(n, x, y);
    harness_stop();
  }
  OUTPUT("x", (DATA_TYPE *)x, (size_t)n);
  OUTPUT("y", (DATA_TYPE *)y, (size_t)n);
  free(x);
  free(y);
  return harness_finish("negative-step");
}
