/* Loops that run once before they ask, and loops that a pointer counts. */
#include <stdio.h>

static double a[100], b[100];

static void show(const char *name, int more)
{
  double sum = 0.0;
  for (int i = 0; i < 100; i++) {
    sum += a[i] * (i + 1) + b[i];
    a[i] = i * 0.5;
    b[i] = i * 0.25 + 1.0;
  }
  printf("%s %.3f %d\n", name, sum, more);
}

void once(double *restrict x, int n)
{
#pragma scop
  int i = 0;
  do {
    x[i] = x[i] + 2.0;
    i++;
  } while (i < n);
#pragma endscop
}

/* Of a loop around it. */
int rows(double *restrict x, int n, int m)
{
  int j;
#pragma scop
  for (int i = 0; i < n; i++) {
    j = 0;
    do {
      x[i * m + j] *= 3.0;
      j += 2;
    } while (j < m);
  }
#pragma endscop
  return n;
}

/* The value of the counter is read afterwards. */
int down(double *restrict x, int n)
{
  int i = n;
#pragma scop
  do {
    x[i] += 1.0;
    i--;
  } while (i >= 0);
#pragma endscop
  return i;
}

int ahead(double *p, int n)
{
  double *begin = p;
#pragma scop
  double *end = p + n;
  for (; p < end; p++)
    *p += 1.0;
#pragma endscop
  return (int)(p - begin);
}

void pairs(double *restrict x, double *restrict y, int n)
{
  double *p, *q = y;
#pragma scop
  for (p = x; p < x + n; p += 2) {
    p[0] += *q;
    p[1] -= *q;
    q++;
  }
#pragma endscop
  *p += *q;
}

void table(double *x, int n, int m)
{
#pragma scop
  for (int i = 0; i < n; i++)
    for (double *p = x + i * m; p != x + i * m + m; ++p)
      *p = *p * 0.5 + i;
#pragma endscop
}

int main(void)
{
  show("first", 0);
  for (int n = 0; n <= 9; n += n < 2 ? 1 : 3) {
    once(a, n);
    show("once", n);
    show("rows", rows(a, n, 7));
    show("rows", rows(b, 3, n));
    show("down", down(a, n));
    show("down", down(a, 9 - n));
    show("ahead", ahead(a, n));
    show("ahead", ahead(a + 9, -n));
    pairs(a, b, n);
    show("pairs", n);
    table(a, n, 7);
    table(b, 7, n);
    show("table", n);
  }
  return 0;
}
