// Conditionals on data that decide what is touched.
void f(int n, double x[restrict n], double y[restrict n], double m)
{
#pragma scop
  for (int i = 0; i < n; i++) {
    if (x[i] > m) y[i] = m;
    if (i > 0 && x[i - 1] > m) x[i - 1] = m;
    if (x[i] > m)
      for (int j = 0; j < n; j++) m = y[j];
    if (x[i] > undeclared) m = 1;
    if (x[i] > m) { double t = 2; m = t; }
    if (m > 0) while (1) ;
  }
#pragma endscop
}
