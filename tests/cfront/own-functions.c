/* The file's own functions win over those of `math.h` where they are inline. */
static inline double fmax(double x, double y) { return x > y ? x : y + 1; }
double twice(double x) __attribute__((const));
double twice(double x) { return x * 2; }
double sqrt(double x);
void own(int n, double *restrict a)
{
#pragma scop
  for (int i = 0; i < n; i++)
    a[i] = fmax(a[i], 1.0) + twice(a[i]) + sqrt(a[i]);
#pragma endscop
}
