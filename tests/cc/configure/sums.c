#include <math.h>

int lines_of_sums(void)
{
  return __LINE__;
}

/* Sums of rows, and the lengths of them. */
void sums(int n, int m, double out[restrict n], double length[restrict n], double a[restrict n][m])
{
#pragma scop
  for (int i = 0; i < n; i++) {
    out[i] = 0.0;
    length[i] = 0.0;
    for (int j = 0; j < m; j++) {
      out[i] += a[i][j];
      length[i] += a[i][j] * a[i][j];
    }
    length[i] = sqrt(length[i]);
  }
#pragma endscop
}

int last_line_of_sums(void)
{
  return __LINE__;
}

const char *file_of_sums(void)
{
  const char *name = __FILE__, *last = name;
  for (; *name; name++)
    if (*name == '/')
      last = name + 1;
  return last;
}
