/* Buffers that change places: the loop goes two steps at a time, and both are tiled in time. */
#include <stdio.h>

void heat(int steps, int n, double *u, double *v)
{
#pragma scop
  for (int t = 0; t < steps; t++) {
    for (int i = 1; i < n - 1; i++)
      v[i] = 0.25 * u[i - 1] + 0.5 * u[i] + 0.25 * u[i + 1];
    double *other = u;
    u = v;
    v = other;
  }
#pragma endscop
  u[0] = 1.0;
}

static double a[5000], b[5000];

int main(void)
{
  for (int steps = 0; steps < 131; steps += 13) {
    for (int i = 0; i < 5000; i++)
      a[i] = b[i] = i * 31 % 101;
    heat(steps, 5000, a, b);
    printf("%d %a %a %a %a\n", steps, a[0], b[0], a[2500], b[2500]);
  }
  return 0;
}
