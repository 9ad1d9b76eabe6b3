/* Each core has one part of the line, which it reads with a point more on either side. */
#include <slave.h>

#include "stencil.h"

#ifndef ATHREAD_EMULATOR
#define emulated_compute(cycles, operations) ((void)0)
#endif

enum { PART = 1024 };

void stencil(struct stencil *argument)
{
  struct stencil s;
  double in[PART + 2], out[PART];
  volatile int reply = 0;
  athread_get(PE_MODE, argument, &s, sizeof s, (void *)&reply, 0, 0, 0);
  dma_wait(&reply, 1);
  int id = athread_get_id(-1), part = (s.n + 63) / 64;
  for (int step = 0; step < s.steps; step++) {
    for (int first = id * part; first < (id + 1) * part && first < s.n; first += PART) {
      int end = first + PART;
      if (end > (id + 1) * part)
        end = (id + 1) * part;
      if (end > s.n)
        end = s.n;
      int low = first > 0 ? first - 1 : 0, high = end < s.n ? end + 1 : s.n;
      reply = 0;
      athread_get(PE_MODE, s.line[step % 2] + low, in, (high - low) * (int)sizeof(double), (void *)&reply, 0, 0, 0);
      dma_wait(&reply, 1);
      for (int i = first; i < end; i++)
        out[i - first] = i == 0 || i == s.n - 1 ? in[i - low] : (in[i - 1 - low] + in[i - low] + in[i + 1 - low]) / 3;
      emulated_compute(34.0 * (end - first), 3.0 * (end - first));
      reply = 0;
      athread_put(PE_MODE, out, s.line[(step + 1) % 2] + first, (end - first) * (int)sizeof(double), (void *)&reply, 0, 0);
      dma_wait(&reply, 1);
    }
    athread_syn(ARRAY_SCOPE, 0xffff);
  }
}
