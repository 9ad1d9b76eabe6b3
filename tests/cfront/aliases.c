// What may overlap: pointers without restrict, and objects of the file.
double total, table[10];
float other[10];
int count;
void aliases(int n, double *p, const double *q, double *restrict r, float *f, int *k, double s)
{
#pragma scop
  for (int i = 0; i < count; i++) {
    p[i] = q[i] + r[i] + f[i] + k[i] + s;
    k[i] = 0;
    total += table[i] + other[i];
  }
#pragma endscop
}

/* `restrict` does not part a pointer from those that are made from it. */
void derived(int n, double *restrict a)
{
  double *q = a + 1;
#pragma scop
  for (int i = 0; i < n; i++)
    q[i] = a[i] + 1;
#pragma endscop
}

void row(int n, double (*restrict A)[n])
{
  double *last = A[n - 1];
#pragma scop
  for (int i = 0; i < n; i++)
    last[i] = A[0][i];
#pragma endscop
}

/* An element that was read makes no pointer. */
void element(int n, double *restrict a, double *from)
{
  double first = a[0];
  double *q = from;
#pragma scop
  for (int i = 0; i < n; i++)
    q[i] = a[i] + first;
#pragma endscop
}
