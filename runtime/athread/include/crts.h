/* The interface of SW26010Pro's computing cores, as the vendor names it: destination first, `bsize` before `stride`.
 *
 * Needs ATHREAD_CHIP=sw26010pro when the program runs; host files include athread.h.
 */
#ifndef CRTS_H
#define CRTS_H

#include "slave.h"

typedef volatile int crts_rply_t;
typedef crts_rply_t athread_rply_t;

#define CRTS_tid _MYID
#define CRTS_rid _ROW
#define CRTS_cid _COL
#define CRTS_cgn 0
#define CRTS_MAX_LDM_SIZE (256 << 10)

void emulated_dma(int put, void *memory, void *local, int len, int bsize, int stride, crts_rply_t *reply);
void emulated_wait_least(volatile void *reply, int value);
/* put: `local` here to `remote` of core `core`; get: the other way round. Both replies count up, each in its own core. */
void emulated_rma(int put, void *local, crts_rply_t *local_reply, int len, int core, void *remote, crts_rply_t *remote_reply);
/* To the cores of a set: `along_row` in this core's row, else in its column, -1: all; with or without this core itself. */
void emulated_rma_broadcast(int along_row, int itself, void *dest, void *src, int len, crts_rply_t *local_reply, crts_rply_t *remote_reply);
/* As above from core `root` of the row, column (its column or row) or array, with barriers before and after. */
void emulated_rma_collective(int along_row, void *dest, void *src, int len, int root);

#define CRTS_dma_iget(dest, src, len, reply) emulated_dma(0, (src), (dest), (len), 0, 0, (reply))
#define CRTS_dma_iput(dest, src, len, reply) emulated_dma(1, (dest), (src), (len), 0, 0, (reply))
#define CRTS_dma_iget_stride(dest, src, len, bsize, stride, reply) emulated_dma(0, (src), (dest), (len), (bsize), (stride), (reply))
#define CRTS_dma_iput_stride(dest, src, len, bsize, stride, reply) emulated_dma(1, (dest), (src), (len), (bsize), (stride), (reply))
#define CRTS_dma_get(dest, src, len) emulated_dma(0, (src), (dest), (len), 0, 0, NULL)
#define CRTS_dma_put(dest, src, len) emulated_dma(1, (dest), (src), (len), 0, 0, NULL)
#define CRTS_dma_get_stride(dest, src, len, bsize, stride) emulated_dma(0, (src), (dest), (len), (bsize), (stride), NULL)
#define CRTS_dma_put_stride(dest, src, len, bsize, stride) emulated_dma(1, (dest), (src), (len), (bsize), (stride), NULL)
/* Waits while the reply is less than the value. */
#define CRTS_dma_wait_value(reply, value) emulated_wait_least((reply), (value))

#define CRTS_rma_iput(local, local_reply, len, core, remote, remote_reply) \
  emulated_rma(1, (local), (local_reply), (len), (core), (remote), (remote_reply))
#define CRTS_rma_iget(local, local_reply, len, core, remote, remote_reply) \
  emulated_rma(0, (local), (local_reply), (len), (core), (remote), (remote_reply))
#define CRTS_rma_wait_value(reply, value) emulated_wait_least((reply), (value))
#define CRTS_rma_row_ibcast(dest, src, len, local_reply, remote_reply) \
  emulated_rma_broadcast(1, 1, (dest), (src), (len), (local_reply), (remote_reply))
#define CRTS_rma_col_ibcast(dest, src, len, local_reply, remote_reply) \
  emulated_rma_broadcast(0, 1, (dest), (src), (len), (local_reply), (remote_reply))
#define CRTS_rma_row_bcast_coll(dest, src, len, root) emulated_rma_collective(1, (dest), (src), (len), (root))
#define CRTS_rma_col_bcast_coll(dest, src, len, root) emulated_rma_collective(0, (dest), (src), (len), (root))
#define CRTS_rma_bcast_coll(dest, src, len, root) emulated_rma_collective(-1, (dest), (src), (len), (root))

/* The same by the names of the newer athread library. */
#define athread_dma_iget(dest, src, len, reply) CRTS_dma_iget(dest, src, len, reply)
#define athread_dma_iput(dest, src, len, reply) CRTS_dma_iput(dest, src, len, reply)
#define athread_dma_iget_stride(dest, src, len, bsize, stride, reply) CRTS_dma_iget_stride(dest, src, len, bsize, stride, reply)
#define athread_dma_iput_stride(dest, src, len, bsize, stride, reply) CRTS_dma_iput_stride(dest, src, len, bsize, stride, reply)
#define athread_dma_get(dest, src, len) CRTS_dma_get(dest, src, len)
#define athread_dma_put(dest, src, len) CRTS_dma_put(dest, src, len)
#define athread_dma_get_stride(dest, src, len, bsize, stride) CRTS_dma_get_stride(dest, src, len, bsize, stride)
#define athread_dma_put_stride(dest, src, len, bsize, stride) CRTS_dma_put_stride(dest, src, len, bsize, stride)
#define athread_dma_wait_value(reply, value) CRTS_dma_wait_value(reply, value)
#define athread_rma_iput(local, local_reply, len, core, remote, remote_reply) CRTS_rma_iput(local, local_reply, len, core, remote, remote_reply)
#define athread_rma_iget(local, local_reply, len, core, remote, remote_reply) CRTS_rma_iget(local, local_reply, len, core, remote, remote_reply)
#define athread_rma_wait_value(reply, value) CRTS_rma_wait_value(reply, value)
#define athread_rma_row_ibcast(dest, src, len, local_reply, remote_reply) CRTS_rma_row_ibcast(dest, src, len, local_reply, remote_reply)
#define athread_rma_col_ibcast(dest, src, len, local_reply, remote_reply) CRTS_rma_col_ibcast(dest, src, len, local_reply, remote_reply)
#define athread_rma_row_bcast_coll(dest, src, len, root) CRTS_rma_row_bcast_coll(dest, src, len, root)
#define athread_rma_col_bcast_coll(dest, src, len, root) CRTS_rma_col_bcast_coll(dest, src, len, root)
#define athread_rma_bcast_coll(dest, src, len, root) CRTS_rma_bcast_coll(dest, src, len, root)

#define CRTS_ssync_array() athread_syn(ARRAY_SCOPE, 0xffff)
#define CRTS_ssync_row() athread_syn(ROW_SCOPE, 0xff)
#define CRTS_ssync_col() athread_syn(COL_SCOPE, 0xff)

#define CRTS_pldm_malloc(size) ldm_malloc(size)
#define CRTS_pldm_free(memory, size) ldm_free((memory), (size))
#define CRTS_pldm_get_free_size() get_allocatable_size()

#endif
