// Conditionals on data with something inside or in the condition that is refused.
void f(int n, double x[restrict n], double y[restrict n], double m)
{
#pragma scop
  for (int i = 0; i < n; i++) {
    if (x[i] > undeclared) m = 1;
    if (x[i] > m)
      for (int j = 0; j < n; j++) m = y[k];
    if (m > 0) while (1) ;
    if (m > 0) break;
    for (int j = 0; x[j] > 0; j++) y[j] = 1;
    if (x[i] > m)
      for (int j = 0; j < x[i]; j++) y[j] = 1;
  }
#pragma endscop
}
