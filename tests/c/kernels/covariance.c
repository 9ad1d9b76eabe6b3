/* The covariance matrix of the columns of data. */
#include "harness.h"

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

static void kernel_covariance(int m, int n, DATA_TYPE float_n, DATA_TYPE data[restrict n][m],
                              DATA_TYPE cov[restrict m][m], DATA_TYPE mean[restrict m])
{
#pragma scop
  for (int j = 0; j < m; j++) {
    mean[j] = 0;
    for (int i = 0; i < n; i++)
      mean[j] += data[i][j];
    mean[j] /= float_n;
  }
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++)
      data[i][j] -= mean[j];
  for (int i = 0; i < m; i++)
    for (int j = i; j < m; j++) {
      cov[i][j] = 0;
      for (int k = 0; k < n; k++)
        cov[i][j] += data[k][i] * data[k][j];
      cov[i][j] /= float_n - 1;
      cov[j][i] = cov[i][j];
    }
#pragma endscop
}

int main(int argc, char **argv)
{
  int m = SIZE(M);
  int n = SIZE(N);
  DATA_TYPE float_n = (DATA_TYPE)n;
  DATA_TYPE (*data)[m] = harness_alloc((size_t)n * (size_t)m, sizeof(DATA_TYPE));
  DATA_TYPE (*cov)[m] = harness_alloc((size_t)m * (size_t)m, sizeof(DATA_TYPE));
  DATA_TYPE *mean = harness_alloc((size_t)m, sizeof(DATA_TYPE));
  harness_open(argc, argv);
  for (int rep = 0; rep < REPS; rep++) {
    for (size_t k = 0; k < (size_t)n * (size_t)m; k++)
      ((DATA_TYPE *)data)[k] = (DATA_TYPE)harness_unit(1, k);
    memset(cov, 0, (size_t)m * (size_t)m * sizeof(DATA_TYPE));
    memset(mean, 0, (size_t)m * sizeof(DATA_TYPE));
    harness_start();
    kernel_covariance(m, n, float_n, data, cov, mean);
    harness_stop();
  }
  OUTPUT("data", (DATA_TYPE *)data, (size_t)n * (size_t)m);
  OUTPUT("cov", (DATA_TYPE *)cov, (size_t)m * (size_t)m);
  OUTPUT("mean", (DATA_TYPE *)mean, (size_t)m);
  free(data);
  free(cov);
  free(mean);
  return harness_finish("covariance");
}
