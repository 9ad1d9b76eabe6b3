/* Row of a core by a descriptor, two lanes of four changed in even rows, what is above 2 cut; then a column of the result. */
#include <dma.h>
#include <simd.h>
#include <slave.h>

#include "descriptors.h"

__thread_local double row[WIDTH] __attribute__((aligned(32)));
__thread_local volatile int arrived, gone;

void descriptors(double *matrix)
{
  dma_desc bring, take;
  unsigned long before, after;
  double *copy = (double *)ldm_malloc(WIDTH * sizeof(double) / 2);
  copy = (double *)ldm_realloc(copy, WIDTH * sizeof(double) / 2, WIDTH * sizeof(double));
  if (copy == NULL)
    return;
  RTC(before);
  dma_set_op(&bring, DMA_GET);
  dma_set_mode(&bring, PE_MODE);
  dma_set_reply(&bring, &arrived);
  dma_set_size(&bring, sizeof row);
  dma_set_bsize(&bring, sizeof row);
  dma_set_stepsize(&bring, 0);
  dma_set_mask(&bring, 0);
  arrived = gone = 0;
  dma(bring, (long)(matrix + WIDTH * (8 * ROW(_MYID) + COL(_MYID))), (long)row);
  dma_wait(&arrived, 1);
  const doublev4 two = simd_vcpyfd(2.0), none = two - two;
  for (int j = 0; j < WIDTH; j += 4) {
    doublev4 v;
    simd_load(v, row + j);
    v = simd_vmin(v, two);
    doublev4 odd = none;
    odd = simd_vinsf0((double)(_MYID % 2), odd);
    odd = simd_vshff(two, odd, 0);
    v = simd_vseleq(odd, none - v, v);
    copy[j] = simd_vextf0(v);
    copy[j + 1] = simd_vextf1(v);
    copy[j + 2] = simd_vextf2(v);
    copy[j + 3] = simd_vextf3(v);
  }
  emulated_compute(8.0 * WIDTH, 2.0 * WIDTH);
  RTC(after);
  if (after - before < 8 * WIDTH)
    return;
  dma_set_op(&take, DMA_PUT);
  dma_set_mode(&take, PE_MODE);
  dma_set_reply(&take, &gone);
  dma_set_size(&take, sizeof row);
  dma_set_bsize(&take, sizeof(double));
  dma_set_stepsize(&take, (ROWS - 1) * sizeof(double));
  dma(take, (long)(matrix + ROWS * WIDTH + _MYID), (long)copy);
  dma_wait(&gone, 1);
  ldm_free(copy, WIDTH * sizeof(double));
}
