/* The file's own functions have names of `math.h`. */
static int calls;
static double hypot(double x, double y) { calls++; return x + y * calls; }
double sqrt(double);
static double fmax(double x, double y) { if (x > y) return x; return y + 1; }
static float floor(float x) { return x * 2; }
double (fabs)(double x) { calls++; return x; }
double tan(double);
double cos(x) double x; { return x + calls; }
int isnan(double x) { return calls++ > x; }
void own(int n, double *restrict a, double (*sin)(double))
{
  double exp(double x) { return x + calls; }
#pragma scop
  for (int i = 0; i < n; i++) {
    a[i] = fmax(a[i], 1.0);
    a[i] += floor(a[i]);
    a[i] += (fabs)(a[i]);
    a[i] += tan(a[i]) + sqrt(a[i]) + hypot(a[i], 1.0);
    a[i] += cos(a[i]);
    a[i] += sin(a[i]);
    a[i] += exp(a[i]);
    a[i] += isnan(a[i]);
  }
#pragma endscop
}
double tan(double x) { return x; }

/* Functions that take arrays. */
double total(const double *p, int n);
static double read_at(const double *p, int i) { return p[i]; }
static inline double both(const double (*p)[10], int i) { return p[i][0] + p[i][1]; }
double told(const double *p) __attribute__((const));
double declared_by_option(const double *p);
void arrays(int n, double A[restrict 10][10], double x[restrict 10])
{
#pragma scop
  for (int j = 0; j < n; j++) {
    x[j] = total(A[j], n);
    x[j] += read_at(x, j);
    x[j] += both(A, j);
    x[j] += told(x) + declared_by_option(A[j]);
    total(x, n);
  }
#pragma endscop
}
