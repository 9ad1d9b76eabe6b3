#include <stdlib.h>
struct point { double x, y; };
double impure(double);
double reads_memory(double) __attribute__((pure));
void f(int n, int m, double *restrict x, struct point *p, struct point s, int *k, int mask)
{
#pragma scop
  for (int i = 0; i < n; i++) {
    x[i] = p[i].x;
    x[i] = s.x;
    p->y = 1;
    x[i] = *(x + i);
    x[i] = *&x[i];
    x[i] = (n, 2);
    x[i] = x[i] = 3;
    x[i] = k[i]++;
    k[i] = k[i] << 2;
    k[i] = ~mask;
    x[i] = impure(x[i]) + undeclared(2);
    x[i] = _Alignof(double);
    x[i] = rand() + reads_memory(2);
    impure(x[i]);
    k[i] = x[i] % 2;
    x[i] = ({ double t = 1; t; });
    x[i] = ((double[]){1, 2})[0];
    x = 0;
    x[i] = unknown + 1;
    x[i] = sqrtl(2) + sqrt(1, 2);
  }
#pragma endscop
}
