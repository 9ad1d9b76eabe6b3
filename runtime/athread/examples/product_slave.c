/* One core's tiles of the product: two buffers for A and B each, so that the next ones come while this core computes. */
#include <slave.h>

#include "product.h"

#ifndef ATHREAD_EMULATOR
#define emulated_compute(cycles, operations) ((void)0)
#endif

enum { MI = 32, NJ = 32, KK = 32 };

__thread_local double a[2][MI * KK], b[2][KK * NJ], c[MI * NJ];
__thread_local volatile int get_reply, put_reply;

static int least(int x, int y)
{
  return x < y ? x : y;
}

static void fetch(const struct product *p, int which, int i0, int j0, int k0)
{
  int mi = least(MI, p->m - i0), nj = least(NJ, p->n - j0), kk = least(KK, p->k - k0);
  int row = kk * (int)sizeof(double), column = nj * (int)sizeof(double);
  athread_get(PE_MODE, p->a + (long)i0 * p->k + k0, a[which], mi * row, (void *)&get_reply, 0, (p->k - kk) * (int)sizeof(double), row);
  athread_get(PE_MODE, p->b + (long)k0 * p->n + j0, b[which], kk * column, (void *)&get_reply, 0, (p->n - nj) * (int)sizeof(double), column);
}

void product(struct product *argument)
{
  struct product p;
  get_reply = 0;
  athread_get(PE_MODE, argument, &p, sizeof p, (void *)&get_reply, 0, 0, 0);
  dma_wait(&get_reply, 1);
  int rid = athread_get_id(-1) / 8, cid = athread_get_id(-1) % 8;
  for (int i0 = rid * MI; i0 < p.m; i0 += 8 * MI)
    for (int j0 = cid * NJ; j0 < p.n; j0 += 8 * NJ) {
      int mi = least(MI, p.m - i0), nj = least(NJ, p.n - j0);
      for (int x = 0; x < mi * nj; x++)
        c[x] = 0;
      get_reply = 0;
      if (p.k > 0)
        fetch(&p, 0, i0, j0, 0);
      for (int k0 = 0, which = 0; k0 < p.k; k0 += KK, which ^= 1) {
        dma_wait(&get_reply, 2);
        get_reply = 0;
        if (k0 + KK < p.k)
          fetch(&p, which ^ 1, i0, j0, k0 + KK);
        int kk = least(KK, p.k - k0);
        for (int i = 0; i < mi; i++)
          for (int x = 0; x < kk; x++)
            for (int j = 0; j < nj; j++)
              c[i * nj + j] += a[which][i * kk + x] * b[which][x * nj + j];
        emulated_compute(3.0 * mi * nj * kk, 2.0 * mi * nj * kk);
      }
      int column = nj * (int)sizeof(double);
      put_reply = 0;
      athread_put(PE_MODE, c, p.c + (long)i0 * p.n + j0, mi * column, (void *)&put_reply, (p.n - nj) * (int)sizeof(double), column);
      dma_wait(&put_reply, 1);
    }
}
