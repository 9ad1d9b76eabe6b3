// error C0302
struct point {
  double x, y;
};

union number {
  double real;
  long whole;
};

void lengths(int n, struct point *p, const union number u[restrict n], double out[restrict n])
{
#pragma scop
  for (int i = 0; i < n; i++)
    out[i] = p[i].x * u[i].real;
  p->y = 1;
#pragma endscop
}
