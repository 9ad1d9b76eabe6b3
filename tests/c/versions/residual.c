/* The largest change of a sweep: threads take parts of the maximum, in any order. */
#include <math.h>
#include <stdio.h>

double sweep(int n, double v[restrict n][n], double u[restrict n][n])
{
  double most = 0;
#pragma scop
  for (int i = 1; i < n - 1; i++)
    for (int j = 1; j < n - 1; j++) {
      v[i][j] = 0.25 * (u[i - 1][j] + u[i + 1][j] + u[i][j - 1] + u[i][j + 1]);
      double change = fabs(v[i][j] - u[i][j]);
      if (change > most)
        most = change;
    }
#pragma endscop
  return most;
}

static double v[203][203], u[203][203];

int main(void)
{
  for (int i = 0; i < 203; i++)
    for (int j = 0; j < 203; j++)
      u[i][j] = (i * 31 + j * 17) % 101 - 50;
  u[5][7] = NAN;
  printf("%a %a\n", sweep(203, v, u), v[9][11]);
  return 0;
}
