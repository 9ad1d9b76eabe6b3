/* Places that are computed first: in variables of the loop, above it, and from each other. */
#include "harness.h"

#ifndef DATA_TYPE
#define DATA_TYPE double
#endif
#ifdef LARGE
#define N_DEFAULT 1500
#define M_DEFAULT 1200
#else
#define N_DEFAULT 23
#define M_DEFAULT 17
#endif
#ifndef N
#define N N_DEFAULT
#endif
#ifndef M
#define M M_DEFAULT
#endif

static void kernel_index_temporaries(int n, int m, DATA_TYPE *restrict A, DATA_TYPE *restrict B,
                                     DATA_TYPE *restrict C, int *restrict where)
{
  int i, j, ix, next;
  size_t place;
#pragma scop
  for (i = 0; i < n; i++)
    for (j = 0; j < m; j++) {
      ix = i * m + j;
      A[ix] -= B[ix];
    }
  for (i = 0; i < n; i++) {
    const int row = i * m;
    for (j = 0; j < m; j++) {
      place = (size_t)row + j;
      C[place] = A[place] + B[row + (m - 1 - j)];
    }
  }
  for (i = 0; i < n; i++)
    for (j = 0; j < m; j++) {
      int at = i * m + j, data = i * m + j;
      where[at] = data % 7;
      if (j + 1 < m) {
        next = at + 1;
        B[at] = A[next];
      }
    }
  ix = 2;
  for (j = 0; j < m; j++) {
    int left = j, right;
    right = left + 1;
    if (i > j)
      left = 0;
    else
      left = 0;
    if (right < m)
      C[right] += B[left] + ix;
  }
#pragma endscop
}

int main(int argc, char **argv)
{
  int n = SIZE(N);
  int m = SIZE(M);
  size_t count = (size_t)n * (size_t)m;
  DATA_TYPE *A = harness_alloc(count + 64, sizeof(DATA_TYPE));
  DATA_TYPE *B = harness_alloc(count + 64, sizeof(DATA_TYPE));
  DATA_TYPE *C = harness_alloc(count + m + 64, sizeof(DATA_TYPE));
  int *where = harness_alloc(count + 64, sizeof(int));
  harness_open(argc, argv);
  for (int rep = 0; rep < REPS; rep++) {
    for (size_t k = 0; k < count; k++) {
      A[k] = (DATA_TYPE)harness_unit(1, k);
      B[k] = (DATA_TYPE)harness_unit(2, k);
      C[k] = 0;
    }
    memset(where, 0, count * sizeof(int));
    harness_start();
    kernel_index_temporaries(n, m, A, B, C, where);
    harness_stop();
  }
  OUTPUT("A", (DATA_TYPE *)A, count);
  OUTPUT("B", (DATA_TYPE *)B, count);
  OUTPUT("C", (DATA_TYPE *)C, count);
  for (size_t k = 0; k < count; k++)
    A[k] = where[k];
  OUTPUT("where", (DATA_TYPE *)A, count);
  free(A);
  free(B);
  free(C);
  free(where);
  return harness_finish("index-temporaries");
}
