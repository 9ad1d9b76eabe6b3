/* Waiting for transfers, as the vendor names it. */
#ifndef DMA_H
#define DMA_H

#include "slave.h"

#define dma_wait(reply, value) emulated_wait((reply), (value))

#endif
