/* Transfers by descriptors, and waiting for transfers, as the vendor names them. */
#ifndef DMA_H
#define DMA_H

#include "slave.h"

#define dma_wait(reply, value) emulated_wait((reply), (value))

/* What a descriptor is for. */
enum { DMA_PUT, DMA_GET };

/* A transfer that is described once and made with several addresses. Fields that were never set hold what was in their memory. */
typedef struct {
  int op;
  dma_mode mode;
  int size, bsize, stepsize;
  char mask;
  void *reply;
} dma_desc;

#define dma_set_op(desc, value) ((void)((desc)->op = (value)))
#define dma_set_mode(desc, value) ((void)((desc)->mode = (value)))
#define dma_set_size(desc, bytes) ((void)((desc)->size = (int)(bytes)))
/* Bytes of a block in main memory, and of the gap behind it; both 0: one block. */
#define dma_set_bsize(desc, bytes) ((void)((desc)->bsize = (int)(bytes)))
#define dma_set_stepsize(desc, bytes) ((void)((desc)->stepsize = (int)(bytes)))
#define dma_set_mask(desc, value) ((void)((desc)->mask = (char)(value)))
#define dma_set_reply(desc, word) ((void)((desc)->reply = (void *)(word)))

/* Makes the transfer between these addresses of main memory and of local memory. */
static inline __attribute__((always_inline)) void dma(dma_desc desc, long memory, long local)
{
  /* A block as long as the whole, with a gap that nothing follows, is one block. */
  const int bsize = desc.bsize == desc.size ? 0 : desc.bsize, gap = bsize == 0 ? 0 : desc.stepsize;
  if (desc.op == DMA_GET)
    athread_get(desc.mode, (void *)memory, (void *)local, desc.size, desc.reply, desc.mask, gap, bsize);
  else
    athread_put(desc.mode, (void *)local, (void *)memory, desc.size, desc.reply, gap, bsize);
}

#endif
