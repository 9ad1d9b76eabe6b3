// Regions that stand where C expects one statement.
void f(int n, double x[restrict n])
{
  if (n > 3)
#pragma scop
    for (int i = 0; i < n; i++)
      x[i] = 1;
#pragma endscop
  for (int t = 0; t < 3; t++)
#pragma omp parallel
#pragma scop
    for (int i = 0; i < n; i++)
      x[i] = 2;
#pragma endscop
#pragma scop
  if (n > 5)
    x[0] = 3;
#pragma endscop
  else
    x[1] = 4;
}
