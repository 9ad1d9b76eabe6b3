void f(int n, double x[restrict n])
{
#pragma scop
#define TWICE 2
  for (int i = 0; i < n; i++)
    x[i] = TWICE;
#pragma endscop
_Pragma("scop")
  for (int i = 0; i < n; i++)
    x[i] = 0;
_Pragma("endscop")
}
