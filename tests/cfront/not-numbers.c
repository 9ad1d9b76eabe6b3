/* NAN, isinf, isnan, isfinite of math.h. */
#include <math.h>
void special(int n, double *restrict a, float *restrict f, int *restrict z)
{
#pragma scop
  for (int i = 0; i < n; i++) {
    a[i] = isnan(a[i]) ? 0.0 : a[i] < 0 ? NAN : INFINITY;
    f[i] = f[i] > 3 ? NAN : f[i];
    z[i] = isinf(a[i]) + (isinf(f[i]) ? 2 : 0) + isfinite(a[i]) + isinf(z[i]);
  }
#pragma endscop
}
