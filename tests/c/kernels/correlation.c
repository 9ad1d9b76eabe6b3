/* The correlation matrix of the columns of data. */
#include "harness.h"
#include <math.h>

#ifndef DATA_TYPE
#define DATA_TYPE double
#endif
#ifdef LARGE
#define M_DEFAULT 1200
#define N_DEFAULT 1400
#else
#define M_DEFAULT 28
#define N_DEFAULT 32
#endif
#ifndef M
#define M M_DEFAULT
#endif
#ifndef N
#define N N_DEFAULT
#endif

static void kernel_correlation(int m, int n, DATA_TYPE float_n, DATA_TYPE data[restrict n][m],
                               DATA_TYPE corr[restrict m][m], DATA_TYPE mean[restrict m],
                               DATA_TYPE stddev[restrict m])
{
  DATA_TYPE eps = 0.125;
#pragma scop
  for (int j = 0; j < m; j++) {
    mean[j] = 0;
    for (int i = 0; i < n; i++)
      mean[j] += data[i][j];
    mean[j] /= float_n;
  }
  for (int j = 0; j < m; j++) {
    stddev[j] = 0;
    for (int i = 0; i < n; i++)
      stddev[j] += (data[i][j] - mean[j]) * (data[i][j] - mean[j]);
    stddev[j] /= float_n;
    stddev[j] = sqrt(stddev[j]);
    stddev[j] = stddev[j] <= eps ? (DATA_TYPE)1 : stddev[j];
  }
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++) {
      data[i][j] -= mean[j];
      data[i][j] /= sqrt(float_n) * stddev[j];
    }
  for (int i = 0; i < m - 1; i++) {
    corr[i][i] = 1;
    for (int j = i + 1; j < m; j++) {
      corr[i][j] = 0;
      for (int k = 0; k < n; k++)
        corr[i][j] += data[k][i] * data[k][j];
      corr[j][i] = corr[i][j];
    }
  }
  if (m > 0)
    corr[m - 1][m - 1] = 1;
#pragma endscop
}

int main(int argc, char **argv)
{
  int m = SIZE(M);
  int n = SIZE(N);
  DATA_TYPE float_n = (DATA_TYPE)n;
  DATA_TYPE (*data)[m] = harness_alloc((size_t)n * (size_t)m, sizeof(DATA_TYPE));
  DATA_TYPE (*corr)[m] = harness_alloc((size_t)m * (size_t)m, sizeof(DATA_TYPE));
  DATA_TYPE *mean = harness_alloc((size_t)m, sizeof(DATA_TYPE));
  DATA_TYPE *stddev = harness_alloc((size_t)m, sizeof(DATA_TYPE));
  harness_open(argc, argv);
  for (int rep = 0; rep < REPS; rep++) {
    for (size_t k = 0; k < (size_t)n * (size_t)m; k++)
      ((DATA_TYPE *)data)[k] = (DATA_TYPE)harness_unit(1, k);
    memset(corr, 0, (size_t)m * (size_t)m * sizeof(DATA_TYPE));
    memset(mean, 0, (size_t)m * sizeof(DATA_TYPE));
    memset(stddev, 0, (size_t)m * sizeof(DATA_TYPE));
    harness_start();
    kernel_correlation(m, n, float_n, data, corr, mean, stddev);
    harness_stop();
  }
  OUTPUT("data", (DATA_TYPE *)data, (size_t)n * (size_t)m);
  OUTPUT("corr", (DATA_TYPE *)corr, (size_t)m * (size_t)m);
  OUTPUT("mean", (DATA_TYPE *)mean, (size_t)m);
  OUTPUT("stddev", (DATA_TYPE *)stddev, (size_t)m);
  free(data);
  free(corr);
  free(mean);
  free(stddev);
  return harness_finish("correlation");
}
