/* Rows behind pointers: in order, the other way round, one row twice, rows that overlap by an element,
   rows in the array that is read, none. */
#include <stdio.h>

enum { N = 60 };
static double memory[3][N][N], planes_memory[2][N][N];
static double *rows[2][N], *plane_rows[N * 2], **planes[2];

static void smooth(int n, double **to, double **from)
{
#pragma scop
  for (int i = 1; i < n - 1; i++)
    for (int j = 1; j < n - 1; j++)
      to[i][j] = 0.25 * (from[i - 1][j] + from[i + 1][j] + from[i][j - 1] + from[i][j + 1]);
#pragma endscop
}

static void product(int n, double **c, double **a, double *x)
{
#pragma scop
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      for (int k = 0; k < n; k++)
        c[i][j] += a[i][k] * a[k][j] + x[k];
#pragma endscop
}

static void add(int n, int m, double ***p, double **a)
{
#pragma scop
  for (int l = 0; l < n; l++)
    for (int i = 0; i < m; i++)
      for (int j = 0; j < m; j++)
        p[l][i][j] += a[j][i];
#pragma endscop
}

static void set(void)
{
  for (int k = 0; k < 3; k++)
    for (int i = 0; i < N; i++)
      for (int j = 0; j < N; j++)
        memory[k][i][j] = (k + i * 7 + j * 3) % 11 * 0.125;
  for (int k = 0; k < 2; k++)
    for (int i = 0; i < N; i++)
      rows[k][i] = memory[k][i];
  for (int l = 0; l < 2; l++) {
    planes[l] = plane_rows + l * N;
    for (int i = 0; i < N; i++) {
      planes[l][i] = planes_memory[l][i];
      for (int j = 0; j < N; j++)
        planes_memory[l][i][j] = i - j;
    }
  }
}

static void told(const char *what)
{
  double s = 0.0;
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++)
      s = s * 0.75 + memory[0][i][j] + memory[1][i][j] + planes_memory[0][i][j] + planes_memory[1][i][j];
  printf("%s %a\n", what, s);
}

static void run(const char *what, int n, double *x)
{
  smooth(n, rows[0], rows[1]);
  product(n, rows[0], rows[1], x);
  add(2, n, planes, rows[0]);
  told(what);
}

int main(void)
{
  set();
  run("in order", N, memory[2][0]);
  set();
  for (int i = 0; i < N; i++)
    rows[0][i] = memory[0][N - 1 - i];
  run("the other way round", N, memory[2][0]);
  set();
  rows[0][7] = rows[0][3];
  run("one row twice", N, memory[2][0]);
  set();
  rows[0][8] = rows[0][7] + N - 1;
  run("rows that overlap", N - 1, memory[2][0]);
  set();
  for (int i = 0; i < N; i++)
    rows[0][i] = memory[1][i];
  run("one array", N, memory[2][0]);
  set();
  run("a row as a vector", N, memory[0][5]);
  set();
  planes[1] = planes[0];
  run("one plane", N, memory[2][0]);
  set();
  rows[0][0] = rows[1][0] = NULL;
  run("none", 0, NULL);
  return 0;
}
