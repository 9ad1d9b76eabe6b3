/* Functions that correct their parameters, and functions with loops that return what they made. */
double sqrt(double);
static int clamped(int x, int low, int high)
{
  if (x < low)
    x = low;
  else if (x > high) {
    int most = high;
    x = most;
  }
  return x;
}
static double chosen(const double *x, int n, int i)
{
  double found;
  i -= 1;
  if (i < 0 || i >= n)
    return -1;
  if (x[i] > 0)
    found = x[i];
  else
    found = 0;
  found++;
  return found;
}
static double sum(const double *x, int n)
{
  double s = 0;
  for (int i = 0; i < n; i++)
    s += x[i];
  return s / n;
}
static double length(const double *x, int n) { return sum(x, n) * n; }
void use(int n, int m, double y[restrict n], const double *restrict x)
{
#pragma scop
  for (int i = 0; i < n; i++) {
    y[i] = x[clamped(i + 2, 0, n - 1)] + chosen(x, n, i);
    y[i] -= sum(x + i * m, m);
    const double s = sum(x, n);
    y[i] *= s;
  }
#pragma endscop
}
void nested(int n, int m, double y[restrict n], const double *restrict x)
{
#pragma scop
  for (int i = 0; i < n; i++)
    y[i] += 2 * sum(x, n) - length(x + n, m);
#pragma endscop
}
static int above(const double *x, int n, double t)
{
  int c = 0;
  for (int i = 0; i < n; i++)
    if (x[i] > t)
      c++;
  return c;
}
void decided(int n, double *restrict y, const double *restrict x)
{
#pragma scop
  for (int i = 0; i < n; i++) {
    y[i] = x[i] > 0 ? sum(x, n) : 0;
    y[i] += 2 * (i > 3 ? 1 + length(x, n) : sqrt(x[i]));
    if (x[0] > 0 && above(x, i, 0.5) > 2 || above(x, n, x[i]))
      y[i] = 1;
    else if (above(x, n, 0.75) < 2)
      y[i] = x[i] > 0 && above(x, n, 0.25);
  }
#pragma endscop
}
void refused(int n, double *restrict y, const double *restrict x)
{
#pragma scop
  for (int i = 0; i < n; i++)
    y[i + above(x, n, 0.5)] = x[i];
#pragma endscop
}
/* Structures that are given and returned. */
typedef struct {
  double x, y;
} pair;
static pair turned(pair a, double by) { return (pair){by * a.y, a.x}; }
static pair both(pair a, pair b)
{
  pair c = {a.x + b.x};
  c.y = a.y - b.y;
  return c;
}
static double inner(pair a, pair b) { return a.x * b.x + a.y * b.y; }
void pairs(int n, pair *restrict p, pair *restrict a)
{
#pragma scop
  for (int i = 0; i < n; i++) {
    p[i] = both(p[i], turned(a[i], inner(a[i], p[i])));
    a[i].x = inner(a[i], p[i]);
  }
#pragma endscop
}
