#include "kernels.h"
#include <math.h>

/* No region: this file is compiled as it is, but for LOZENGE_AUTO. */
void smooth(int n, number *to, const number *from)
{
  for (int i = 1; i < n - 1; i++)
    to[i] = 0.25 * from[i - 1] + 0.5 * from[i] + 0.25 * sqrt(from[i + 1]);
}
