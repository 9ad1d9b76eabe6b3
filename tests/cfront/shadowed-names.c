/* Names of a function that mean something else where it is called. */
enum { K = 2 };
typedef double real;
static inline void put(double *x, int i) { x[i] = K * x[i]; }
static inline void keep(double *x, int i) { real t = x[i]; x[i] = t; }

void constants(int n, double *x)
{
  enum { K = 3 };
#pragma scop
  for (int i = 0; i < n; i++)
    put(x, i);
#pragma endscop
}

void types(int n, double *x)
{
  typedef float real;
#pragma scop
  for (int i = 0; i < n; i++)
    keep(x, i);
#pragma endscop
}

void same(int n, double *x)
{
#pragma scop
  for (int i = 0; i < n; i++)
    put(x, i);
#pragma endscop
}
