#include <stdio.h>

void sums(int n, int m, double out[restrict n], double length[restrict n], double a[restrict n][m]);
int lines_of_sums(void);
int last_line_of_sums(void);
const char *file_of_sums(void);

static double a[90][110], out[90], length[90];

int main(void)
{
  for (int i = 0; i < 90; i++)
    for (int j = 0; j < 110; j++)
      a[i][j] = (i * 3 + j) % 7 - 2.5;
  sums(90, 110, out, length, a);
  double sum = 0.0;
  for (int i = 0; i < 90; i++)
    sum += out[i] * i + length[i];
  printf("%.17g %d %d %s\n", sum, lines_of_sums(), last_line_of_sums(), file_of_sums());
  return 0;
}
