// An assertion may end the program, so its loop keeps its order.
#include <assert.h>
void scaled(int n, double *restrict x)
{
#pragma scop
  for (int i = 0; i < n; i++) {
    assert(x[i] >= 0);
    x[i] *= 2;
  }
#pragma endscop
}
