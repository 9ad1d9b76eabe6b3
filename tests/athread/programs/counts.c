/* Scans and histograms of integers: any order of their sums is exact. */
#include "../../c/kernels/harness.h"

#define N_DEFAULT 500
#define K_DEFAULT 20
#ifndef N
#define N N_DEFAULT
#endif
#ifndef K
#define K K_DEFAULT
#endif

static void counts(int n, int k, int place[restrict n], int weight[restrict n], int count[restrict k],
                   long sum[restrict k], int most[restrict k], int some[restrict k],
                   long before[restrict n], long after[restrict n], int peak[restrict n])
{
#pragma scop
  for (int i = 0; i < n; i++)
    count[place[i]] += 1;
#pragma endscop
#pragma scop
  for (int i = 0; i < n; i++)
    sum[place[i]] += weight[i];
#pragma endscop
#pragma scop
  for (int i = 0; i < n; i++)
    most[place[i]] = weight[i] > most[place[i]] ? weight[i] : most[place[i]];
#pragma endscop
#pragma scop
  for (int i = 0; i < n; i++)
    if (weight[i] > 0)
      some[place[i]] += weight[i];
#pragma endscop
#pragma scop
  {
    long s = 3;
    for (int i = 0; i < n; i++) {
      before[i] = s;
      s += weight[i];
    }
  }
#pragma endscop
#pragma scop
  {
    long s = 0;
    for (int i = 0; i < n; i++) {
      s += weight[i];
      after[i] = s;
    }
  }
#pragma endscop
#pragma scop
  {
    int top = -1;
    for (int i = 0; i < n; i++) {
      top = weight[i] > top ? weight[i] : top;
      peak[i] = top;
    }
  }
#pragma endscop
}

int main(int argc, char **argv)
{
  int n = SIZE(N), k = SIZE(K);
  size_t items = (size_t)n, places = (size_t)k;
  harness_open(argc, argv);
  int *place = harness_alloc(items, sizeof(int)), *weight = harness_alloc(items, sizeof(int));
  int *count = harness_alloc(places, sizeof(int)), *most = harness_alloc(places, sizeof(int));
  int *some = harness_alloc(places, sizeof(int)), *peak = harness_alloc(items, sizeof(int));
  long *sum = harness_alloc(places, sizeof(long));
  long *before = harness_alloc(items, sizeof(long)), *after = harness_alloc(items, sizeof(long));
  for (size_t i = 0; i < items; i++) {
    place[i] = (int)(harness_unit(1, i) * (double)places);
    weight[i] = (int)(harness_unit(2, i) * 1000) - 400;
  }
  for (size_t i = 0; i < places; i++)
    count[i] = (int)i, sum[i] = 7 - (long)i, most[i] = -10, some[i] = 1;
  harness_start();
  counts(n, k, place, weight, count, sum, most, some, before, after, peak);
  harness_stop();
  OUTPUT("count", count, places);
  OUTPUT("sum", sum, places);
  OUTPUT("most", most, places);
  OUTPUT("some", some, places);
  OUTPUT("before", before, items);
  OUTPUT("after", after, items);
  OUTPUT("peak", peak, items);
  free(place), free(weight), free(count), free(sum), free(most), free(some), free(before), free(after);
  free(peak);
  return harness_finish("counts");
}
