/* Subscripts as data that are neither affine nor rows and columns, loops that a pointer counts, and
   loops that run once before they ask. */

void strided(float *restrict out, const float *restrict in, int n, int w, int stride)
{
#pragma scop
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      out[i * n + j] = in[i * stride * w + j * stride];
#pragma endscop
}

void overlapping(float *out, const float *in, int n, int w, int k)
{
#pragma scop
  for (int i = 0; i < n; i++) {
    int x = i % k;
    out[i] = in[x + w * (i / k)];
  }
#pragma endscop
}

void tiles(double *a, int n, int b)
{
#pragma scop
  for (int ii = 0; ii < n; ii += b)
    for (int i = ii; i < (ii + b < n ? ii + b : n); i++)
      for (int j = 0; j < n; j++)
        a[i * n + j] *= 2.0;
#pragma endscop
}

/* `more` has another value where the subscript is used: where it goes is not known. */
void not_there(float *out, const float *in, const int *words, int n)
{
#pragma scop
  for (int i = 0; i < n; i++) {
    int more = 0;
    int word = words[i] + more;
    more = 300;
    out[i] = in[word] + more;
  }
#pragma endscop
}

double *pointer(double *p, int n)
{
#pragma scop
  double *end = p + n;
  for (; p < end; p += 2)
    *p += 1.0;
#pragma endscop
  return p;
}

void once(double *restrict x, int n)
{
#pragma scop
  int i = 0;
  do {
    x[i] += 2.0;
    i++;
  } while (i < n);
#pragma endscop
}

static inline void set(int m, double (*a)[m], int i, int j, double v) { a[i][j] = v; }

static inline void scale(double **a, int n, double f)
{
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      a[i][j] *= f;
}

void helpers(int n, int m, double (*restrict a)[m], double (*restrict b)[m], double **restrict c)
{
#pragma scop
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++)
      set(m, a, i, j, b[i][j]);
#pragma endscop
#pragma scop
  scale(c, n, 0.5);
#pragma endscop
}
