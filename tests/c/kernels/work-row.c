/* Each row of a three-dimensional A times a matrix, through a row of work that is longer than its rows. */
#include "harness.h"

#ifndef DATA_TYPE
#define DATA_TYPE double
#endif
#ifdef LARGE
#define NR_DEFAULT 150
#define NQ_DEFAULT 140
#define NP_DEFAULT 160
#else
#define NR_DEFAULT 10
#define NQ_DEFAULT 8
#define NP_DEFAULT 12
#endif
#ifndef NR
#define NR NR_DEFAULT
#endif
#ifndef NQ
#define NQ NQ_DEFAULT
#endif
#ifndef NP
#define NP NP_DEFAULT
#endif

#define WORK 200

static void kernel_work_row(int nr, int nq, int np, DATA_TYPE A[restrict nr][nq][np],
                           DATA_TYPE C4[restrict np][np], DATA_TYPE sum[restrict WORK])
{
#pragma scop
  for (int r = 0; r < nr; r++)
    for (int q = 0; q < nq; q++) {
      for (int p = 0; p < np; p++)
        sum[p] = 0;
      for (int s = 0; s < np; s++)
        for (int p = 0; p < np; p++)
          sum[p] += A[r][q][s] * C4[s][p];
      for (int p = 0; p < np; p++)
        A[r][q][p] = sum[p];
    }
#pragma endscop
}

int main(int argc, char **argv)
{
  int nr = SIZE(NR);
  int nq = SIZE(NQ);
  int np = SIZE(NP);
  DATA_TYPE (*A)[nq][np] = harness_alloc((size_t)nr * (size_t)nq * (size_t)np, sizeof(DATA_TYPE));
  DATA_TYPE (*C4)[np] = harness_alloc((size_t)np * (size_t)np, sizeof(DATA_TYPE));
  DATA_TYPE *sum = harness_alloc(WORK, sizeof(DATA_TYPE));
  harness_open(argc, argv);
  for (int rep = 0; rep < REPS; rep++) {
    for (size_t k = 0; k < (size_t)nr * (size_t)nq * (size_t)np; k++)
      ((DATA_TYPE *)A)[k] = (DATA_TYPE)harness_unit(1, k);
    for (size_t k = 0; k < (size_t)np * (size_t)np; k++)
      ((DATA_TYPE *)C4)[k] = (DATA_TYPE)harness_unit(2, k);
    memset(sum, 0, WORK * sizeof(DATA_TYPE));
    harness_start();
    kernel_work_row(nr, nq, np, A, C4, sum);
    harness_stop();
  }
  OUTPUT("A", (DATA_TYPE *)A, (size_t)nr * (size_t)nq * (size_t)np);
  OUTPUT("sum", (DATA_TYPE *)sum, WORK);
  free(A);
  free(C4);
  free(sum);
  return harness_finish("work-row");
}
