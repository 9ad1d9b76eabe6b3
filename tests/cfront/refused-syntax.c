void f(int n, double x[restrict n])
{
#pragma scop
  for (int i = 0; i < n; i++
    x[i] = 0;
#pragma endscop
#pragma scop
  x[0] = 08 + ;
#pragma endscop
#pragma scop
  x[0] = (1 + 2;
#pragma endscop
#pragma scop
  if (n > 1) {
    x[0] = 2;
#pragma endscop
#pragma scop
  }
#pragma endscop
}
