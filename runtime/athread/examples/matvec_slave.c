/* In the style of older programs: waiting loops written out, local memory from ldm_malloc. */
#include <slave.h>

#include "matvec.h"

#ifndef ATHREAD_EMULATOR
#define emulated_compute(cycles, operations) ((void)0)
#endif

void matvec(struct matvec *argument)
{
  struct matvec v;
  volatile unsigned long reply = 0;
  athread_get(PE_MODE, argument, &v, sizeof v, (void *)&reply, 0, 0, 0);
  while (reply != 1);
  int id = athread_get_id(-1), bytes = v.n * (int)sizeof(double);
  double *x = ldm_malloc((size_t)bytes), *row = ldm_malloc((size_t)bytes);
  athread_syn(ARRAY_SCOPE, 0xffff);
  if (id == 0) {
    reply = 0;
    athread_get(BCAST_MODE, v.x, x, bytes, (void *)&reply, 0xff, 0, 0);
    while (reply != 1);
  }
  athread_syn(ARRAY_SCOPE, 0xffff);
  for (int i = id; i < v.m; i += 64) {
    double sum = 0;
    reply = 0;
    athread_get(PE_MODE, v.a + (long)i * v.n, row, bytes, (void *)&reply, 0, 0, 0);
    while (reply != 1);
    for (int k = 0; k < v.n; k++)
      sum += row[k] * x[k];
    emulated_compute(7.0 * v.n, 2.0 * v.n);
    reply = 0;
    athread_put(PE_MODE, &sum, v.y + i, sizeof sum, (void *)&reply, 0, 0);
    while (reply != 1);
  }
  ldm_free(row, (size_t)bytes);
  ldm_free(x, (size_t)bytes);
}
