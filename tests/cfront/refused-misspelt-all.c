/* None of them is right. */
void f(int n, double x[restrict n])
{
#pragma SCOP
  for (int i = 0; i < n; i++) x[i] = 1;
#pragma ENDSCOP
#pragma scope
  for (int i = 0; i < n; i++) x[i] = 1;
#pragma endscope
}
