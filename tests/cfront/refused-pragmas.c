#pragma scop
void f(int n, double *x)
{
#pragma scop
  x[0] = 1;
#pragma endscop
#pragma endscop
}
#pragma scop
