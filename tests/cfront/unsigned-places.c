/* Places that are computed in 64 bits without a sign, by numbers that data gives. */
#define size_t unsigned long
void rows(int n, int k, double *restrict y, const double *restrict x, const int *restrict row)
{
#pragma scop
  for (int i = 0; i < n; i++) {
    const double *from = x + (size_t)row[i] * k;
    for (int j = 0; j < k; j++)
      y[i] += from[j] + x[(size_t)row[i] + j];
  }
#pragma endscop
}
