// Reductions that are declared and are none.
void f(int n, double s, double t, double *restrict x)
{
#pragma scop
#pragma lozenge reduction(+: s)
  s = 0;
#pragma lozenge reduction(^: s)
  for (int i = 0; i < n; i++)
    s += x[i];
#pragma lozenge reduction(+: s
  for (int i = 0; i < n; i++)
    s += x[i];
#pragma lozenge reduction(+: s)
  for (int i = 0; i < n; i++)
    t += x[i];
#pragma lozenge reduction(+: s)
  for (int i = 0; i < n; i++) {
    s += x[i];
    x[i] = s;
  }
#pragma lozenge reduction(*: s)
  for (int i = 0; i < n; i++)
    s += x[i];
#pragma lozenge reduction(+: nobody, n)
  for (int i = 0; i < n; i++)
    s += x[i];
#pragma endscop
}
