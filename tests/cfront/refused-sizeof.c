// Sizes that are no numbers in sight, or not those of an array.
#include <stddef.h>
extern double unknown[];
enum { K = 4 };
double known[K];
struct point { double x, y; } points[3];
int flat[][2] = {3, 1, 4, 1, 5, 9};
void f(int n, double x[restrict 8], double *restrict p)
{
  double vla[n];
#pragma scop
  for (int i = 0; i < sizeof x / sizeof *x; i++)
    x[i] = 1;
  for (int i = 0; i < sizeof(p) / sizeof(p[0]); i++)
    p[i] = 1;
  for (int i = 0; i < sizeof vla / sizeof *vla; i++)
    vla[i] = 1;
  for (int i = 0; i < sizeof unknown / sizeof *unknown; i++)
    unknown[i] = 1;
  for (int i = 0; i < sizeof points / sizeof *points; i++)
    p[i] = 1;
  for (int i = 0; i < sizeof flat / sizeof *flat; i++)
    p[i] = 1;
  for (int i = 0; i < sizeof(1 + n); i++)
    p[i] = 1;
  for (int i = 0; i < sizeof known / sizeof *known - 5; i++)
    p[i] = 1;
  for (int i = -1; i < sizeof known / sizeof *known; i++)
    p[i + 1] = 1;
  x[0] = sizeof(struct point);
  x[1] = sizeof p;
#pragma endscop
}
void g(double *restrict p)
{
  enum { K = 3 };
#pragma scop
  for (int i = 0; i < sizeof known / sizeof *known; i++)
    p[i] = K;
#pragma endscop
}
