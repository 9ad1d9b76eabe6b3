// Remainders and quotients by a size that may be anything.
void unbounded(int n, int m, double a[restrict n], double b[restrict n])
{
#pragma scop
  for (int i = 0; i < n; i++)
    b[i] = a[(i + m) % n] + a[(i - 1) % n] + a[(2 * i + n) % n] + a[i / n];
#pragma endscop
}
