/* `i[a]` is `a[i]`, for variables of loops, sizes, integers with a fixed value, and constants. */
void turned(int n, double *restrict a, double *restrict b, double A[restrict n][n], int m)
{
#pragma scop
  for (int i = 0; i < n; i++)
    a[i] = i[a] + 1;
  for (int i = 0; i < n; i++) {
    const int q = i;
    (q + 1)[b] = q[b] * 2 + 3[a] + m[a];
    i[A][0] = i[A[i]];
  }
#pragma endscop
}
