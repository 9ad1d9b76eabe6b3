/* The largest value of an array. */
#include <math.h>

double largest(int n, const double x[restrict n]) {
  double m = -INFINITY;
#pragma scop
  for (int i = 0; i < n; i++)
    if (x[i] > m)
      m = x[i];
#pragma endscop
  return m;
}
