#include <stdio.h>

static double a[33][47], largest[47];
static int row[47];

int main(void)
{
#pragma scop
  for (int i = 0; i < 33; i++)
    for (int j = 0; j < 47; j++)
      a[i][j] = (3 * i + 5 * j) % 13;
#pragma endscop
#pragma scop
  for (int j = 0; j < 47; j++) {
    largest[j] = a[0][j];
    row[j] = 0;
    for (int i = 1; i < 33; i++)
      if (a[i][j] > largest[j]) {
        largest[j] = a[i][j];
        row[j] = i;
      }
  }
#pragma endscop
  for (int j = 0; j < 47; j++)
    printf("%g %d\n", largest[j], row[j]);
}
