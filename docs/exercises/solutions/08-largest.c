/* The largest value of an array. */
#include <math.h>

double largest(int n, const double x[restrict n]) {
  double m = -INFINITY;
#pragma scop
#pragma lozenge reduction(max: m)
  for (int i = 0; i < n; i++)
    m = fmax(m, x[i]);
#pragma endscop
  return m;
}
