// What `math.h` has for numbers that are none.
#include <math.h>
void infinities(int n, double *restrict a, float *restrict b, int *restrict c)
{
#pragma scop
  for (int i = 0; i < n; i++) {
    a[i] = a[i] > 0 ? a[i] : -HUGE_VAL;
    b[i] = b[i] > 0 ? INFINITY : -HUGE_VALF;
    c[i] = isnan(a[i]) + isfinite(b[i]) + isfinite(c[i]);
  }
#pragma endscop
}
