double partly(int n, double a[restrict n], double b[restrict n])
{
  double sum = 0;
#pragma scop
  for (int i = 0; i < n; i++)
    b[i] = 2 * a[i];
  for (int i = 0; i < n; i++)
    sum += b[i];
#pragma endscop
  return sum;
}
