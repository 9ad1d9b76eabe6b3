/* Reads at places that data gives, and loops of which data says where they begin and end. */
void places(int n, int m, long p, const double table[restrict m], const double *restrict curve, const int *restrict in,
            const long *restrict far, const double *restrict B, const double *restrict V, const int row[restrict n + 1], const long end[restrict n],
            double out[restrict n], double C[restrict n][p], int count[restrict n])
{
  int k;
  double sum, held;
#pragma scop
  for (int i = 0; i < n; i++)
    out[i] = table[in[i]] + curve[in[i] + i] * curve[far[i]];
  /* A scalar that is dead afterwards, and decides in a condition, a subscript and a bound what is read. */
  for (int i = 0; i < n; i++) {
    int at = in[i];
    held = table[at];
    if (held > 0)
      for (k = at; k <= row[i]; k++)
        out[i] += table[in[k]] * held;
  }
  /* Flat matrices; the end is a long, so the variable is one. */
  for (int i = 0; i < n; i++)
    for (int q = row[i]; q < end[i]; q += 2)
      for (int j = 0; j < p; j++)
        C[i][j] += B[far[q] * p + j] * V[q * p + j];
  /* The first value is a form, the end is data, and the other way round; the variable is on the right. */
  for (int i = 0; i < n; i++) {
    sum = 0;
    for (int q = i; row[i + 1] > q; q++)
      sum += curve[q];
    for (int q = in[i]; q < n; q++)
      count[i] += 1;
    out[i] = sum;
  }
#pragma endscop
}

/* What is read first in a condition, a subscript or a bound is not of the iteration. */
void before(int n, const int next[restrict n], const double x[restrict n], double y[restrict n], double z[restrict n],
            int start, double last)
{
#pragma scop
  for (int i = 0; i < n; i++) {
    y[i] = x[start];
    for (int k = start; k < next[i]; k++)
      z[i] += x[k];
    start = next[i];
    if (x[i] > last) {
      y[i] = 1;
      z[i] = 2;
    }
    last = x[i];
  }
#pragma endscop
}
