/* Results that pay on one thread too, though their loops are those of the text: C compilers make no
   vectors of it, or call a function. And a swap, which gets tiles. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#define N 260
static double planes[12][N][N], other[12][N][N], matrix[N][N], ring[N][N];

static void fill(void)
{
  for (int k = 0; k < 12; k++)
    for (int i = 0; i < N; i++)
      for (int j = 0; j < N; j++)
        planes[k][i][j] = (k * 7 + i * 3 + j * 5) % 101 * 0.25 - 8;
  memcpy(matrix, planes[3], sizeof matrix);
  memcpy(ring, planes[5], sizeof ring);
}

static void show(const char *name, const double *x, int count)
{
  double sum = 0;
  for (int i = 0; i < count; i++)
    sum += x[i] * (i % 17 + 1);
  printf("%s %.6f\n", name, sum);
}

/* More than ten pairs of rows of one array, of which no number says how far they are apart. */
void twist(int steps, int m, int n, double a[restrict 12][m][n], double b[restrict 12][m][n])
{
#pragma scop
  for (int t = 0; t < steps; t++)
    for (int i = 1; i < m - 1; i++)
      for (int j = 1; j < n - 1; j++) {
        double mean = (a[0][i][j] + a[1][i][j - 1] + a[2][i - 1][j] + a[3][i + 1][j]) * 0.25;
        b[0][i][j] = mean;
        b[1][i][j] = a[1][i][j] - mean;
        b[2][i][j] = a[2][i][j] - mean;
        b[3][i][j] = a[3][i][j] - mean;
        b[4][i][j] = a[4][i][j] * mean;
        b[5][i][j] = a[5][i][j] * mean;
      }
#pragma endscop
}

/* Places that begin again at the end of a row. */
void blur(int steps, int n, double u[restrict n][n], double v[restrict n][n])
{
#pragma scop
  for (int t = 0; t < steps; t++)
    for (int i = 0; i < n; i++)
      for (int j = 0; j < n; j++)
        v[i][j] = 0.5 * u[i][j] + 0.25 * (u[i][(j + n - 1) % n] + u[i][(j + 1) % n]);
#pragma endscop
}

/* A swap. */
void turn(int n, double a[restrict n][n])
{
#pragma scop
  for (int i = 0; i < n; i++)
    for (int j = i + 1; j < n; j++) {
      double kept = a[i][j];
      a[i][j] = a[j][i];
      a[j][i] = kept;
    }
#pragma endscop
}

/* The greatest of some numbers, beside a sum that keeps its order. */
double extent(int n, const double x[restrict n])
{
  double sum = 0, most = -1;
#pragma scop
  for (int i = 0; i < n; i++) {
    sum += x[i];
    most = fmax(most, x[i]);
  }
#pragma endscop
  return sum + most;
}

int main(void)
{
  for (int n = 0; n <= N; n += n < 3 ? 1 : 257) {
    fill();
    /* Arrays of no elements are none of C. */
    int size = n > 0 ? n : 1;
    twist(n < 3 ? n : 2, n, size, (void *)planes, (void *)other);
    show("twist", &other[0][0][0], 12 * N * N);
    blur(n < 3 ? n : 3, n, (void *)ring, (void *)other);
    show("blur", &other[0][0][0], N * N);
    turn(n, (void *)matrix);
    show("turn", &matrix[0][0], N * N);
    printf("extent %.6f\n", extent(n, &planes[0][0][0]));
  }
  return 0;
}
