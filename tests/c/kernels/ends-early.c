/* Loops that end early: a search, a limit, data beside a bound, a bisection, one without an end of its own. */
#include "harness.h"

#ifndef DATA_TYPE
#define DATA_TYPE double
#endif
#ifdef LARGE
#define N_DEFAULT 400000
#define M_DEFAULT 64
#else
#define N_DEFAULT 61
#define M_DEFAULT 17
#endif
#ifndef N
#define N N_DEFAULT
#endif
#ifndef M
#define M M_DEFAULT
#endif

static void kernel_ends_early(int n, int m, const int key[restrict m], const DATA_TYPE w[restrict m],
                              const int x[restrict n], int found[restrict n], DATA_TYPE sums[restrict n],
                              int steps[restrict n], int place[restrict n], DATA_TYPE roots[restrict n])
{
#pragma scop
  for (int i = 0; i < n; i++) {
    int at = -1;
    for (int j = 0; j < m; j++) {
      if (key[j] == x[i]) {
        at = j;
        break;
      }
    }
    found[i] = at;
  }
  for (int i = 0; i < n; i++) {
    DATA_TYPE s = 0;
    int j;
    for (j = 0; j < m; j++) {
      if (w[j] < (DATA_TYPE)0)
        continue;
      if (s + w[j] > (DATA_TYPE)(i % 11) * (DATA_TYPE)0.25)
        break;
      s += w[j];
    }
    sums[i] = s + (DATA_TYPE)j;
  }
  for (int i = 0; i < n; i++) {
    int j, c = 0;
    for (j = 0; j < m; j++) {
      if (key[j] == x[i] + 2)
        break;
      if (key[j] % 7 == i % 7)
        j++;
      c += 3;
    }
    found[i] += 100 * j + c;
  }
#pragma endscop
#pragma scop
  for (int i = 0; i < n; i++) {
    DATA_TYPE a = (DATA_TYPE)(i % 7) * (DATA_TYPE)0.2, b = 0;
    int k = 2;
    while (k < m && a * a + b * b < (DATA_TYPE)4) {
      DATA_TYPE t = a * a - b * b + w[k];
      b = (DATA_TYPE)2 * a * b + (DATA_TYPE)0.125;
      a = t;
      k++;
    }
    steps[i] = k;
  }
#pragma endscop
#pragma scop
  for (int i = 0; i < n; i++) {
    int low = 0, high = m;
    while (low < high) {
      int middle = low + (high - low) / 2;
      if (key[middle] < x[i])
        low = middle + 1;
      else
        high = middle;
    }
    place[i] = low;
  }
  for (int i = 0; i < n; i++) {
    DATA_TYPE a = (DATA_TYPE)(x[i] + 1), root = a + (DATA_TYPE)1;
    for (;;) {
      DATA_TYPE next = (DATA_TYPE)0.5 * (root + a / root);
      if (next >= root)
        break;
      root = next;
    }
    roots[i] = root;
  }
#pragma endscop
}

int main(int argc, char **argv)
{
  int n = SIZE(N), m = SIZE(M);
  int *key = harness_alloc((size_t)m, sizeof(int));
  DATA_TYPE *w = harness_alloc((size_t)m, sizeof(DATA_TYPE));
  int *x = harness_alloc((size_t)n, sizeof(int));
  int *found = harness_alloc((size_t)n, sizeof(int));
  DATA_TYPE *sums = harness_alloc((size_t)n, sizeof(DATA_TYPE));
  int *steps = harness_alloc((size_t)n, sizeof(int));
  int *place = harness_alloc((size_t)n, sizeof(int));
  DATA_TYPE *roots = harness_alloc((size_t)n, sizeof(DATA_TYPE));
  harness_open(argc, argv);
  for (int k = 0; k < m; k++) {
    key[k] = 3 * k;
    w[k] = (DATA_TYPE)harness_unit(2, (uint64_t)k);
  }
  for (int i = 0; i < n; i++)
    x[i] = harness_below(4, (uint64_t)i, 3 * m + 2);
  for (int rep = 0; rep < REPS; rep++) {
    memset(found, 0, (size_t)n * sizeof(int));
    memset(sums, 0, (size_t)n * sizeof(DATA_TYPE));
    memset(steps, 0, (size_t)n * sizeof(int));
    memset(place, 0, (size_t)n * sizeof(int));
    memset(roots, 0, (size_t)n * sizeof(DATA_TYPE));
    harness_start();
    kernel_ends_early(n, m, key, w, x, found, sums, steps, place, roots);
    harness_stop();
  }
  OUTPUT("found", found, n);
  OUTPUT("sums", sums, n);
  OUTPUT("steps", steps, n);
  OUTPUT("place", place, n);
  OUTPUT("roots", roots, n);
  free(key);
  free(w);
  free(x);
  free(found);
  free(sums);
  free(steps);
  free(place);
  free(roots);
  return harness_finish("ends-early");
}
