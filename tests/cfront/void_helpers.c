// Functions that return nothing, in the place of their calls.
static double scale = 2.0;
static inline void swap(double *a, double *b) { double t = *a; *a = *b; *b = t; }
static inline void accumulate(double *sum, double value) { *sum += scale * value; }
static inline void both(double *x, double *y, double v) { accumulate(x, v); if (v > 0.0) { accumulate(y, -v); } }
static inline void zero(double *row, int n) { for (int k = 0; k < n; k++) row[k] = 0.0; }
static inline void first(double *x, int n) { if (n > 3) return; x[n] = 0.0; }
static inline void ping(double *x, int n);
static inline void pong(double *x, int n) { ping(x, n); }
static inline void ping(double *x, int n) { pong(x, n); }

static inline void clear(int n, double rows[n][n]) { for (int k = 0; k < n; k++) rows[k][k] = 0.0; }

void reverse(int n, double x[restrict n])
{
#pragma scop
  for (int i = 0; i < n / 2; i++)
    swap(&x[i], &x[n - 1 - i]);
#pragma endscop
}

// Arguments have the names of parameters.
void sums(double sums[restrict 10], double other[restrict 10], double a[restrict 10][10], double sum)
{
#pragma scop
  for (int i = 0; i < 10; i++) {
    zero(a[i], 10);
    sums[i] = 0.0;
    for (int j = 0; j < 10; j++) {
      double value = a[i][j], x = 1.0;
      both(&sums[i], &other[i], value + sum * x);
    }
  }
#pragma endscop
}

// A name of the file is another one here.
void hidden(int n, double x[restrict n], double scale)
{
#pragma scop
  for (int i = 0; i < n; i++)
    accumulate(&x[i], scale);
#pragma endscop
}

void leaves(int n, double x[restrict n])
{
#pragma scop
  for (int i = 0; i < n; i++)
    first(x, i);
#pragma endscop
}

void endless(int n, double x[restrict n])
{
#pragma scop
  for (int i = 0; i < n; i++)
    ping(x, i);
#pragma endscop
}

// A pointer to rows is no pointer to numbers.
void rows(int n, double a[restrict n][n])
{
#pragma scop
  clear(n, a);
#pragma endscop
}
