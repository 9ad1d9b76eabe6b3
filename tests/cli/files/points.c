/* An array of structures, which cores are not given, and another region beside it. */
struct point {
  double x, y;
};

void points(int n, struct point p[restrict n], double out[restrict n])
{
#pragma scop
  for (int i = 0; i < n; i++)
    out[i] = p[i].x * p[i].y;
#pragma endscop
#pragma scop
  for (int i = 0; i < n; i++)
    out[i] *= 2;
#pragma endscop
}
