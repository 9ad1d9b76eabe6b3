// Which scalars become local, and where.
double live;
double scalars(int n, int m, double A[restrict n][m], double x[restrict n])
{
  double inner, outer, carried = 0, maybe, result, two;
#pragma scop
  outer = 3;
  for (int i = 0; i < n; i++) {
    for (int j = 0; j < m; j++) {
      inner = A[i][j];
      inner = inner * outer;
      A[i][j] = inner;
      carried += inner;
    }
    if (i > 2) maybe = 1;
    x[i] = maybe;
    if (i == 0) { two = 1; x[i] += two; } else { two = 2; x[i] -= two; }
    live = x[i];
    result = carried;
  }
#pragma endscop
  return result;
}
