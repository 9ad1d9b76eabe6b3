int top;
#pragma scop
#pragma endscop
void f(int n, double *x)
{
  if (n) {
#pragma scop
    x[0] = 1;
  }
#pragma endscop
}
void g(int n, double *x)
{
#pragma scop
  x[0] = 1;
}
void h(int n, double *x)
{
  x[0] = 1;
#pragma endscop
}
void old(n, x) int n; double *x;
{
#pragma scop
  x[0] = 1;
#pragma endscop
}
