/* Conditionals on data that only choose what is assigned. */
#include "harness.h"

#ifndef DATA_TYPE
#define DATA_TYPE double
#endif
#ifdef LARGE
#define N_DEFAULT 5000000
#else
#define N_DEFAULT 50
#endif
#ifndef N
#define N N_DEFAULT
#endif

static void kernel_data_guards(int n, DATA_TYPE x[restrict n], int w[restrict n],
                               DATA_TYPE result[restrict 8])
{
  DATA_TYPE largest = -1, sum = 0;
  int at = -1, count = 0, most = 3, least = 3;
#pragma scop
  for (int i = 0; i < n; i++) {
    if (x[i] > largest) {
      largest = x[i];
      at = i;
    }
    if (x[i] < -0.4)
      x[i] = -0.4;
    else if (x[i] > 0.25)
      x[i] -= 0.125;
    if (i > 0 && w[i] == w[i - 1])
      count++;
    if (w[i] > most)
      most = w[i];
    if (!(least <= w[i]))
      least = w[i];
    else {
      sum += x[i];
      w[i] *= 2;
    }
  }
#pragma endscop
  result[0] = largest;
  result[1] = at;
  result[2] = count;
  result[3] = most;
  result[4] = least;
  result[5] = sum;
}

int main(int argc, char **argv)
{
  int n = SIZE(N);
  DATA_TYPE *x = harness_alloc((size_t)n, sizeof(DATA_TYPE));
  int *w = harness_alloc((size_t)n, sizeof(int));
  DATA_TYPE *result = harness_alloc((size_t)8, sizeof(DATA_TYPE));
  harness_open(argc, argv);
  for (int rep = 0; rep < REPS; rep++) {
    for (size_t k = 0; k < (size_t)n; k++)
      x[k] = (DATA_TYPE)(harness_unit(1, k) - 0.5);
    for (size_t k = 0; k < (size_t)n; k++)
      w[k] = (int)(harness_below(2, k, 7));
    memset(result, 0, (size_t)8 * sizeof(DATA_TYPE));
    harness_start();
    kernel_data_guards(n, x, w, result);
    harness_stop();
  }
  OUTPUT("x", (DATA_TYPE *)x, (size_t)n);
  OUTPUT("w", (int *)w, (size_t)n);
  OUTPUT("result", (DATA_TYPE *)result, (size_t)8);
  free(x);
  free(w);
  free(result);
  return harness_finish("data-guards");
}
