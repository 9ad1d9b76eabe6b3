/* Every element goes through a function of another file. */
double response(double x);

void apply(int n, double y[restrict n], const double x[restrict n]) {
#pragma scop
  for (int i = 0; i < n; i++)
    y[i] = response(x[i]);
#pragma endscop
}
