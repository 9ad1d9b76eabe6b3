/* The computing core's side of the Athread interface, as the vendor names it, for the emulator of this folder. */
#ifndef SLAVE_H
#define SLAVE_H

#include <stddef.h>
#include <stdio.h>

#ifndef ATHREAD_EMULATOR
#define ATHREAD_EMULATOR 1
#endif

#define __thread_local __thread
#define __thread_local_fix __thread
#define __thread_kernel(name)

/* How a transfer is spread: to this core, to all cores, along a row. */
typedef enum { PE_MODE, BCAST_MODE, ROW_MODE, BROW_MODE, RANK_MODE } dma_mode;
typedef enum { ROW_SCOPE, COL_SCOPE, ARRAY_SCOPE } scope;

/* Brings `len` bytes from main memory at `src` to local memory at `dest`: blocks of `bsize` bytes with gaps of `stride` bytes between them
 * (both 0: one block). `reply`, in local memory, goes up by one when it is done. `mask`: rows of a broadcast. */
int athread_get(dma_mode mode, void *src, void *dest, int len, void *reply, char mask, int stride, int bsize);
/* Takes local memory at `src` to main memory at `dest`; the blocks and gaps are in main memory. */
int athread_put(dma_mode mode, void *src, void *dest, int len, void *reply, int stride, int bsize);
/* Number of a core of this group; -1: of this one. */
int athread_get_id(int core);
/* Waits for the cores of this row (mask 0xff), of this column (0xff) or of the array (0xffff). */
int athread_syn(scope which, int mask);

/* Local memory. */
void *ldm_malloc(size_t size);
void ldm_free(void *memory, size_t size);
size_t get_allocatable_size(void);

/* Waits until the reply word has this value. On the machine: while (*reply != value); */
void emulated_wait(volatile void *reply, int value);
/* Stands in for the body of an empty waiting loop: lets transfers and other cores go on; always 1. */
int emulated_spin(void);
/* Before its condition is looked at; always 1. */
int emulated_look(void);
/* What the code computes here on the machine: cycles of this core, and useful floating-point operations. */
void emulated_compute(double cycles, double operations);
/* Says that an address is not a multiple, and stops. */
void emulated_misaligned(const void *address, unsigned multiple) __attribute__((noreturn, cold));
/* Stops with a message unless the address is a multiple; returns it. Without a call that comes back, since around one no vector stays in a register: its place
 * would be taken on the stack, and local memory has no room for what the machine does not need. */
static inline __attribute__((always_inline)) const void *emulated_aligned(const void *address, unsigned multiple)
{
  if (__builtin_expect((unsigned long)address % multiple != 0, 0))
    emulated_misaligned(address, multiple);
  return address;
}
/* Vector operations executed by this core, counted if ATHREAD_COUNT_SIMD is defined. */
extern __thread unsigned long emulated_vector_operations;

#define _MYID (athread_get_id(-1))
#define _PEN _MYID
#define _ROW (_MYID / 8)
#define _COL (_MYID % 8)
#define _CGN 0

#define ALLSYN athread_syn(ARRAY_SCOPE, 0xffff)
#define ROWSYN athread_syn(ROW_SCOPE, 0xff)
#define COLSYN athread_syn(COL_SCOPE, 0xff)

/* Row and column of a core by its number. */
#ifndef ROW
#define ROW(core) ((core) / 8)
#endif
#ifndef COL
#define COL(core) ((core) % 8)
#endif

/* The clock of this core: cycles that it has stated so far (emulated_compute). What transfers and other cores take is known only after the run, so differences
 * tell of computing alone. */
unsigned long emulated_cycles(void);
#define rpcc() emulated_cycles()
#define athread_stime_cycle() emulated_cycles()
#define RTC(cycles) ((cycles) = emulated_cycles())
#define rtc(cycles) RTC(cycles)

#define athread_ssync(which, mask) athread_syn((which), (mask))
#define athread_ssync_array() athread_syn(ARRAY_SCOPE, 0xffff)
#define athread_ssync_row() athread_syn(ROW_SCOPE, 0xff)
#define athread_ssync_col() athread_syn(COL_SCOPE, 0xff)

/* A block of local memory of another size with the same contents; NULL, and the old block stays, if there is no room. */
static inline void *ldm_realloc(void *memory, size_t old, size_t size)
{
  char *moved = (char *)ldm_malloc(size);
  if (moved == NULL)
    return NULL;
  for (size_t at = 0; at < old && at < size; at++)
    moved[at] = ((char *)memory)[at];
  ldm_free(memory, old);
  return moved;
}

#define cpe_printf printf

#include "dma.h"
#include "crts.h"

#endif
