/* What the nests of this folder run on: blocks of memory of each kind, filled in the same way before
   each run. RUN names a nest, the size at which it is timed, and the call. */
#ifndef DRIVER_H
#define DRIVER_H

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCKS = 6 };

extern float *float_blocks[BLOCKS];
extern double *double_blocks[BLOCKS], **row_blocks[BLOCKS], ***plane_blocks[BLOCKS];
extern int *int_blocks[BLOCKS], *start_block;
extern unsigned char *byte_blocks[BLOCKS];
extern long *long_blocks[BLOCKS];

/* Blocks: floats, doubles, integers from 0 to n - 1, bytes, longs; rows and planes of n * n and
   n * n * n doubles behind pointers; starts of n rows with at most 3 entries. */
#define F(k) float_blocks[k]
#define D(k) double_blocks[k]
#define I(k) int_blocks[k]
#define B(k) byte_blocks[k]
#define L(k) long_blocks[k]
#define ROWS(k) row_blocks[k]
#define PLANES(k) plane_blocks[k]
#define STARTS start_block

#define RUN(name, size, call) \
  void run_##name(int n) { call; } \
  const int size_of_##name = size;

#endif
