// Declared reductions: pragmas of both kinds, several clauses, arrays, differences, minima by choice.
void reductions(int n, double s, double *restrict x, double y[restrict n], double m, int k)
{
#pragma scop
#pragma lozenge reduction(+: s)
  for (int i = 0; i < n; i++)
    s += x[i];
#pragma omp parallel for simd schedule(static) reduction(default, -: s) reduction(max: m)
  for (int i = 0; i < n; i++) {
    s -= x[i];
    if (x[i] > m) m = x[i];
  }
#pragma omp parallel for reduction(+: y[0:n], k)
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) {
      y[j] += x[i];
      k += j;
    }
  if (n > 3)
#pragma omp simd reduction(*: s)
    for (int i = 0; i < n; i++)
      s *= x[i];
#pragma omp parallel for
  for (int i = 0; i < n; i++)
    x[i] = 2 * x[i];
#pragma endscop
  x[0] = s + m + k;
}

/* Truth values. */
void all_and_any(int n, const double *restrict x, _Bool *restrict o)
{
  _Bool all = 1, any = 0;
#pragma scop
#pragma omp parallel for reduction(&&: all)
  for (int i = 0; i < n; i++)
    all = all && x[i] > 0.5;
#pragma lozenge reduction(||: any)
  for (int i = 0; i < n; i++)
    any = x[i] > 2 || any;
#pragma endscop
  o[0] = all, o[1] = any;
}
