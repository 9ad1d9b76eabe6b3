#include <complex.h>
void f(int n, unsigned *u, char *c, short s[n], long double *ld, double complex *z, volatile double *v,
       double **rows, double *columns[4], _Atomic int *a, unsigned size, void *nothing, float _Complex w)
{
#pragma scop
  for (int i = 0; i < n; i++) {
    u[i] = 1;
    c[i] = 2;
    s[i] = 3;
    ld[i] = 4;
    z[i] = 5;
    v[i] = 6;
    rows[i][0] = 7;
    columns[0][i] = 8;
    a[i] = 9;
    nothing = 0;
    double d = size * 2 + 1.0L;
    double e = w;
  }
#pragma endscop
}
