// Shapes: variable-length arrays, pointers to arrays, typedefs, globals, extents that are expressions.
#include <stdlib.h>
#define SQUARE(name, n) double name[restrict n][n]
typedef double matrix[10][20];
enum { ROWS = 4, COLUMNS = ROWS * 2 };
static float global[ROWS][COLUMNS];
static const int fixed = 6;
extern double *plain;
void shapes(int n, int m, SQUARE(A, n), double (*restrict B)[m + 1], matrix C, double *restrict D,
            double E[restrict][2 * n], const double *restrict F, double *restrict out)
{
  double local[n][fixed], sums[ROWS];
  double (*heap)[m] = malloc(sizeof(double[n][m]));
#pragma scop
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++) {
      A[i][i] = B[i + 2][j] + C[i][3] + D[i + j] + E[2 * i][j] + F[n - i] + global[1][2];
      heap[i][j] = local[i][fixed - 1];
      sums[COLUMNS - 5] += heap[i][0];
      global[ROWS - 1][0] = 2;
      *out = sums[0];
    }
#pragma endscop
  free(heap);
}
