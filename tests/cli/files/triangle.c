/* A product over a triangle with both bounds variable. */
void triangle(int n, double A[restrict n][n], double B[restrict n][n])
{
#pragma scop
  for (int i = 0; i < n; i++)
    for (int j = i; j < n; j++)
      for (int k = i; k <= j; k++)
        A[i][j] += B[i][k] * B[k][j];
#pragma endscop
}
