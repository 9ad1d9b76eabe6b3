/* Sums over columns, element by element and in a local variable, and a transposition: rows of the matrix should be walked. */
#include "harness.h"

#ifdef LARGE
#define N_DEFAULT 2000
#else
#define N_DEFAULT 60
#endif
#ifndef N
#define N N_DEFAULT
#endif

static void kernel_columns(int n, int m, float A[restrict n][m], float x[restrict n], float y[restrict m],
                           float s[restrict m], float B[restrict m][n])
{
#pragma scop
  for (int i = 0; i < m; i++) {
    y[i] = 0;
    for (int j = 0; j < n; j++)
      y[i] += A[j][i] * x[j];
  }
#pragma endscop
#pragma scop
  for (int i = 0; i < m; i++) {
    float sum = 0;
    for (int j = 0; j < n; j++)
      sum += A[j][i];
    s[i] = sum / n;
  }
#pragma endscop
#pragma scop
  for (int i = 0; i < m; i++)
    for (int j = 0; j < n; j++)
      B[i][j] = A[j][i] + x[j];
#pragma endscop
}

int main(int argc, char **argv)
{
  int n = SIZE(N), m = n + n / 7;
  float (*A)[m] = harness_alloc((size_t)n * m, sizeof(float));
  float *x = harness_alloc((size_t)n, sizeof(float));
  float *y = harness_alloc((size_t)m, sizeof(float));
  float *s = harness_alloc((size_t)m, sizeof(float));
  float (*B)[n] = harness_alloc((size_t)m * n, sizeof(float));
  harness_open(argc, argv);
  for (int rep = 0; rep < REPS; rep++) {
    for (size_t k = 0; k < (size_t)n * m; k++)
      ((float *)A)[k] = (float)(harness_unit(1, k) - 0.5);
    for (size_t k = 0; k < (size_t)n; k++)
      x[k] = (float)(harness_unit(2, k) - 0.5);
    harness_start();
    kernel_columns(n, m, A, x, y, s, B);
    harness_stop();
  }
  OUTPUT("y", (float *)y, (size_t)m);
  OUTPUT("s", (float *)s, (size_t)m);
  OUTPUT("B", (float *)B, (size_t)m * n);
  free(A);
  free(x);
  free(y);
  free(s);
  free(B);
  return harness_finish("columns");
}
