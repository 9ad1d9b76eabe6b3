// Casts to wide types in the subscripts of flat arrays.
#include <stddef.h>
void f(int n, int m, size_t k, float *restrict A, float *restrict B)
{
#pragma scop
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++) {
      A[(size_t)i * m + j] = 1;
      A[(long)i * m + (m - 1 - j)] += 2;
      for (size_t l = 0; l < k; l++)
        B[((size_t)i * m + j) * k + l] = A[(size_t)(i * m) + j];
    }
#pragma endscop
}
