/* A packed triangle: its subscripts are of degree two in the loop variables. */
void kernel_packed(int n, double *restrict L, const double x[restrict n], double y[restrict n])
{
#pragma scop
  for (int i = 0; i < n; i++)
    for (int j = 0; j <= i; j++)
      y[i] += L[i * (i + 1) / 2 + j] * x[j];
#pragma endscop
}
