// error C0302
struct point {
  double x, y;
};

void lengths(int n, const struct point p[restrict n], double out[restrict n])
{
#pragma scop
  for (int i = 0; i < n; i++)
    out[i] = p[i].x * p[i].x + p[i].y * p[i].y;
#pragma endscop
}
