/* One core's part of the product, four elements at a time. */
#include <simd.h>
#include <slave.h>

#include "dot.h"

#ifndef ATHREAD_EMULATOR
#define emulated_compute(cycles, operations) ((void)0)
#endif

enum { PART = 1024 };

__thread_local double x[PART] __attribute__((aligned(32))), y[PART] __attribute__((aligned(32)));

void dot(struct dot *argument)
{
  struct dot d;
  volatile int reply = 0;
  athread_get(PE_MODE, argument, &d, sizeof d, (void *)&reply, 0, 0, 0);
  dma_wait(&reply, 1);
  int id = athread_get_id(-1), row = id / 8, column = id % 8;
  doublev4 sum = 0 - (doublev4){0}, vx, vy;
  for (int first = id * PART; first < d.n; first += 64 * PART) {
    int count = d.n - first < PART ? d.n - first : PART;
    reply = 0;
    athread_get(PE_MODE, d.x + first, x, count * (int)sizeof(double), (void *)&reply, 0, 0, 0);
    athread_get(PE_MODE, d.y + first, y, count * (int)sizeof(double), (void *)&reply, 0, 0, 0);
    dma_wait(&reply, 2);
    for (int i = 0; i < count; i += 4) {
      simd_load(vx, x + i);
      simd_load(vy, y + i);
      sum = simd_vmad(vx, vy, sum);
    }
    emulated_compute(7.0 * count / 4, 2.0 * count);
  }
  /* Along the row to column 0, then along that column to core 0. */
  if (column > 0)
    simd_putr(sum, 0);
  else
    for (int k = 1; k < 8; k++)
      sum += simd_getr(vx);
  if (column == 0 && row > 0)
    simd_putc(sum, 0);
  if (id == 0) {
    for (int k = 1; k < 8; k++)
      sum += simd_getc(vx);
    double result[4] = {sum[0] + sum[1] + sum[2] + sum[3]};
    emulated_compute(7.0 * 17, 60);
    reply = 0;
    athread_put(PE_MODE, result, d.sum, sizeof result, (void *)&reply, 0, 0);
    dma_wait(&reply, 1);
  }
}
