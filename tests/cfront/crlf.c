void f(int n, double x[restrict n])
{
#pragma scop
  for (int i = 0; i < n; i++)
    x[i] = 0;
#pragma endscop
}
