// Unsigned differences in conditions, and comparisons of signed with unsigned.
#include <stddef.h>
void f(size_t n, int m, unsigned u, double x[restrict n])
{
#pragma scop
  for (size_t i = 0; i < n; i++) {
    if (i - 1 < n) x[i] = 1;
    if (i > 0) if (i - 1 < n) x[i] = 2;
    if (m < u) x[i] = 3;
    if (m >= 0 && m < u) x[i] = 4;
    x[i] = i - 1 < 5 ? 5 : 6;
    x[i - 1] = 7;
    x[(unsigned)m] = 8;
    x[(i - u) / 2] = 9;
  }
#pragma endscop
}
