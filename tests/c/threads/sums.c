/* Sums of rounded numbers in loops that threads share out: every run prints the same bits. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define N 24000
#define M 24

static void sums(int n, int m, double A[restrict n][m], double x[restrict n], float w[restrict n], int at[restrict n],
                 double columns[restrict m], double by_key[restrict 300], double result[restrict 4])
{
  double sum = 0.1, product = 1.0, triangle = 0.3;
  float single = 0.1f;
#pragma scop
#pragma lozenge reduction(+: sum)
  for (int i = 0; i < n; i++)
    sum += x[i] * x[i];
#pragma lozenge reduction(*: product)
  for (int i = 0; i < n; i++)
    product *= 1 + x[i] / n;
#pragma lozenge reduction(+: single)
  for (int i = 0; i < n; i++)
    single += w[i];
#pragma lozenge reduction(+: columns)
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++)
      columns[j] += A[i][j] * x[i];
#pragma lozenge reduction(+: triangle)
  for (int i = 0; i < n / 10; i++)
    for (int j = 0; j <= i; j++)
      triangle += A[i][j % m] * x[j];
#pragma lozenge reduction(+: by_key)
  for (int i = 0; i < n; i++)
    by_key[at[i]] += x[i];
#pragma endscop
  result[0] = sum;
  result[1] = product;
  result[2] = single;
  result[3] = triangle;
}

static void print(const char *name, const double *values, int count)
{
  unsigned long long all = 1469598103934665603ULL;
  for (int k = 0; k < count; k++) {
    unsigned long long bits;
    memcpy(&bits, &values[k], sizeof bits);
    all = (all ^ bits) * 1099511628211ULL;
  }
  printf("%s %016llx\n", name, all);
}

int main(void)
{
  static double A[N][M], x[N], columns[M], by_key[300], result[4];
  static float w[N];
  static int at[N];
  for (int i = 0; i < N; i++) {
    x[i] = 1.0 / (3 + (i * 7919 + 1) % N);
    w[i] = (float)x[i];
    at[i] = (int)(i * 2654435761u % 300);
    for (int j = 0; j < M; j++)
      A[i][j] = 1.0 / (1 + (i * 31 + j * 17) % 1009);
  }
  sums(N, M, A, x, w, at, columns, by_key, result);
  print("columns", columns, M);
  print("by_key", by_key, 300);
  print("result", result, 4);
  return 0;
}
