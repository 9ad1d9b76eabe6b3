/* A comment that goes on behind the region. */
void f(int n, double x[restrict n])
{
#pragma scop
  for (int i = 0; i < n; i++) x[i] = 1;
#pragma endscop /* the
  first */
}
