/* Calls smooth on a hot spot and prints the sum of squares, to the last digit. */
#include <stdio.h>

void smooth(int t, int n, double a[restrict n][n], double b[restrict n][n]);

static double a[400][400], b[400][400];

int main(void) {
  a[200][200] = 1000;
  smooth(50, 400, a, b);
  double sum = 0;
  for (int i = 0; i < 400; i++)
    for (int j = 0; j < 400; j++)
      sum += a[i][j] * a[i][j];
  printf("%.17g\n", sum);
  return 0;
}
