/* Loops that never run, conditions that never hold, beside one that does. */
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

static void kernel_empty(int n, DATA_TYPE x[restrict n])
{
#pragma scop
  for (int i = n; i < n; i++)
    x[i] = 1;
  for (int i = 0; i < n && i < -3; i++)
    x[i] = 2;
  for (int i = 0; i < n; i++)
    if (i > n)
      x[i] = 3;
    else if (i >= 0)
      x[i] += 4;
  for (int i = 5; i < 2; i++)
    x[i] = 5;
#pragma endscop
}

int main(int argc, char **argv)
{
  int n = SIZE(N);
  DATA_TYPE *x = harness_alloc((size_t)n, sizeof(DATA_TYPE));
  harness_open(argc, argv);
  for (int rep = 0; rep < REPS; rep++) {
    for (size_t k = 0; k < (size_t)n; k++)
      x[k] = (DATA_TYPE)harness_unit(1, k);
    harness_start();
    kernel_empty(n, x);
    harness_stop();
  }
  OUTPUT("x", (DATA_TYPE *)x, (size_t)n);
  free(x);
  return harness_finish("empty");
}
