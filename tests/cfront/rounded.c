// Rounded numbers as integers, and values that are not needed.
#include <math.h>
void rounded(int n, const double *restrict x, const float *restrict y, long *restrict c, signed char *restrict q)
{
#pragma scop
  for (int i = 0; i < n; i++) {
    (void)x[i];
    c[i] = lround(x[i]) + llrint(x[i] * 0.5);
    q[i] = (signed char)lroundf(y[i]);
  }
#pragma endscop
}
