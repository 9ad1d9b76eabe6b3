/* Arrays that a function of the file is given, where its body cannot take the place of the call. */

static inline void shadows(double (*a)[10], int n)
{
  for (int i = 0; i < n; i++) {
    double t[10], a[10];
    a[0] = 1.0;
    t[0] = a[0];
  }
}

static inline void moves(double (*a)[10], int n)
{
  for (int i = 0; i < n; i++) {
    a[0][i] = 1.0;
    a++;
  }
}

static inline void other(double (*a)[10], int n)
{
  int b = n;
  for (int i = 0; i < b; i++)
    a[i][0] = 1.0;
}

static inline void wider(double (*a)[20], int n)
{
  for (int i = 0; i < n; i++)
    a[i][0] = 1.0;
}

void f(double (*a)[10], double (*b)[10], double *x, int n)
{
#pragma scop
  shadows(b, n);
#pragma endscop
#pragma scop
  moves(a, n);
#pragma endscop
#pragma scop
  other(b, n);
#pragma endscop
#pragma scop
  wider(a, n);
#pragma endscop
#pragma scop
  /* What a pointer counts is set in the loop. */
  double *end = x + n;
  for (; x < end; x++) {
    *x = 1.0;
    x++;
  }
#pragma endscop
}
