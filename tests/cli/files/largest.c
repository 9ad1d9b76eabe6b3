void largest(int n, double m[restrict 1], const double x[restrict n])
{
#pragma scop
  for (int i = 0; i < n; i++)
    m[0] = x[i] > m[0] ? x[i] : m[0];
#pragma endscop
}
