/* One core's block of C: in step k, column k of the cores sends its blocks of A along the rows, row k its blocks of B along the columns. */
#include <crts.h>

#include "remote.h"

#ifndef ATHREAD_EMULATOR
#define emulated_compute(cycles, operations) ((void)0)
#endif

enum { AREA = BLOCK * BLOCK };

__thread_local double own_a[AREA], own_b[AREA], a[AREA], b[AREA], c[AREA];
__thread_local crts_rply_t reply, sent, received;

void remote(struct remote *argument)
{
  struct remote r;
  CRTS_dma_get(&r, argument, sizeof r);
  int row = BLOCK * (int)sizeof(double), gap = (r.n - BLOCK) * (int)sizeof(double);
  long corner = (long)CRTS_rid * BLOCK * r.n + CRTS_cid * BLOCK;
  reply = 0;
  CRTS_dma_iget_stride(own_a, r.a + corner, BLOCK * row, row, gap, &reply);
  CRTS_dma_iget_stride(own_b, r.b + corner, BLOCK * row, row, gap, &reply);
  CRTS_dma_wait_value(&reply, 2);
  for (int x = 0; x < AREA; x++)
    c[x] = 0;
  for (int k = 0; k < 8; k++) {
    sent = received = 0;
    CRTS_ssync_array();
    if (CRTS_cid == k)
      CRTS_rma_row_ibcast(a, own_a, AREA * (int)sizeof(double), &sent, &received);
    CRTS_rma_wait_value(&received, 1);
    CRTS_rma_col_bcast_coll(b, own_b, AREA * (int)sizeof(double), k);
    if (CRTS_cid == k)
      CRTS_rma_wait_value(&sent, 1);
    for (int i = 0; i < BLOCK; i++)
      for (int x = 0; x < BLOCK; x++)
        for (int j = 0; j < BLOCK; j++)
          c[i * BLOCK + j] += a[i * BLOCK + x] * b[x * BLOCK + j];
    emulated_compute(3.0 * BLOCK * AREA, 2.0 * BLOCK * AREA);
  }
  CRTS_dma_put_stride(r.c + corner, c, BLOCK * row, row, gap);
}
