/* Functions that take the place of their calls. */
static inline double sq(double x) { return x * x; }
static inline double poly(double x, double y) { double s = sq(x), t = s + y; return t * s; }
static inline int sign(float x) { if (x > 0) return 1; if (x < 0) { return -1; } return 0; }
__attribute__((const)) static inline double stays(double x) { return 3 * x; }

void taken(int n, float a[restrict n], int s[restrict n], double b[restrict n])
{
#pragma scop
  for (int i = 0; i < n; i++) {
    s[i] = sign(a[i]);
    b[i] = poly(a[i] + 1, i) + stays(b[i]);
  }
#pragma endscop
}
