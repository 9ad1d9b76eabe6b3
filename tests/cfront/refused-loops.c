void f(int n, int m, double A[restrict n], int *restrict row, float step)
{
  int i, j;
  float x;
#pragma scop
  for (i = 0; i * i < n; i++) A[i] = 1;
  for (i = row[0]; i < row[1]; i++) A[i] = 2;
  for (i = 0; i < n; i *= 2) A[i] = 3;
  for (i = 0; i < n; i += m) A[i] = 4;
  for (i = 0; i < n; i--) A[i] = 5;
  for (i = n; i >= 0; i++) A[i] = 6;
  for (i = 0; ; i++) A[i] = 7;
  for (; i < n; i++) A[i] = 8;
  for (int a = 0, b = 1; a < n; a++) A[a] = 10;
  for (x = 0; x < 10; x++) A[0] = 11;
  for (i = 0; i < n; i += 0) A[i] = 12;
  for (i = 0; i == 3; i++) A[i] = 13;
  for (i = 0; i < n && m > 3; i++) A[i] = 14;
  for (i = 0; j < n; i++) A[i] = 15;
  for (i = 0; i < n - i; i++) A[i] = 15;
  for (i = 0; i < n || i < m; i++) A[i] = 16;
  for (unsigned u = n; u >= 0; u--) A[u] = 17;
  for (i = 0; i < n; i++)
    for (i = 0; i < m; i++) A[i] = 18;
  for (i = 0; i < n; ) A[i] = 19;
#pragma endscop
}
void commas(int n, double A[restrict n])
{
  int i, j;
#pragma scop
  for (i = 0, j = 0; i < n; i++, j++) A[i] = 9;
  for (j = 0; j < n; j++) A[n - 1] = 9;
  n = 2;
#pragma endscop
}
void g(int n, double A[restrict n])
{
  int i, j, k;
#pragma scop
  for (i = 0; i < n; i++) { A[i] = 1; i = i + 1; }
  for (j = 0; j < n; j++) A[j] = 2;
  A[j] = 3;
  A[0] = j;
#pragma endscop
}
int h(int n, double A[restrict n])
{
  int i, j;
#pragma scop
  for (i = 0; i < n; i++)
    for (j = 0; j < n; j++) A[j] = i;
  double last = A[0];
#pragma endscop
  A[1] = last;
  return j;
}

/* -1 is above every unsigned bound. */
void unsigned_bound(unsigned n, unsigned long m, int lo, int *restrict c)
{
#pragma scop
  for (int i = -1; i < n; i++)
    c[i + 1] = 3;
  for (int i = lo; i < m; i++)
    c[i] = 3;
  for (int i = 7; i >= n; i--)
    c[i] = 3;
#pragma endscop
}
