/* What is assigned stands in parentheses, as macros put them. */
#define SET(a, b) ((a) = (b))
#define COUNT(c) ((c)++)
int scalars(int n, double A[restrict n])
{
  int s = 0, t = 0, i, k;
#pragma scop
  for (i = 0; i < n; i++) {
    SET(s, 3);
    COUNT(s);
    ++(t);
    A[i] += s + t;
  }
  for ((k) = 0; (k) < n; COUNT(k))
    A[(k)] += (k);
#pragma endscop
  return s + k;
}
void pointers(int n, double *q)
{
  double *a = malloc(n * sizeof *a), *b = malloc(n * sizeof *b);
  (b) = q;
#pragma scop
  for (int i = 0; i < n; i++) { a[i] = q[i]; b[i] = a[i]; }
#pragma endscop
}
double taken(int n, const double *restrict q, double **seen)
{
  double s, t, u;
  *seen = (double *)&s;
  seen[1] = &(t);
  u = n & (n);
#pragma scop
  for (int i = 0; i < n; i++) { s = q[i]; t = s * q[i]; u = s + t; }
#pragma endscop
  return 0;
}
