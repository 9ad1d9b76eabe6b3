/* What every kernel of this folder shares: element type, memory, data, time, and the arrays that come out.
 *
 * Build:  gcc -O2 gemm.c -o gemm -lm        sizes by -DNI=100 ..., or -DLARGE for those of PolyBench 4.2; -DDATA_TYPE=float.
 *         Where sizes are variables, the environment sets them too: NI=7 NJ=0 ./gemm
 * Run:    ./gemm [FILE]                     prints the best time of at most -DREPS=... runs, none of them begun after HARNESS_ENOUGH
 *                                           seconds, and a checksum of the bytes that come out;
 *                                           writes those arrays to FILE: a line "name type count", then the bytes of each.
 */
#ifndef HARNESS_H
#define HARNESS_H

#ifndef _POSIX_C_SOURCE
#define _POSIX_C_SOURCE 200809L
#endif
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#ifndef REPS
#define REPS 1
#endif
/* Regions that have run for so many seconds are not run again: long ones vary little. */
#ifndef HARNESS_ENOUGH
#define HARNESS_ENOUGH 1.0
#endif

static int harness_repetitions = REPS;
#undef REPS
#define REPS harness_repetitions

/* A number of the sequence `seed`: the same for all machines and element types. */
static inline uint64_t harness_bits(uint64_t seed, uint64_t k)
{
  uint64_t x = seed * UINT64_C(0x9e3779b97f4a7c15) + k * UINT64_C(0xd1b54a32d192ed03) + 1;
  x ^= x >> 30;
  x *= UINT64_C(0xbf58476d1ce4e5b9);
  x ^= x >> 27;
  x *= UINT64_C(0x94d049bb133111eb);
  return x ^ (x >> 31);
}

/* In [0, 1), a multiple of 1/1024. */
static inline double harness_unit(uint64_t seed, uint64_t k)
{
  return (double)(harness_bits(seed, k) >> 54) / 1024.0;
}

/* In [0, limit). */
static inline int harness_below(uint64_t seed, uint64_t k, int limit)
{
  return (int)(harness_bits(seed, k) % (uint64_t)limit);
}

/* Memory for `count` elements, aligned for vectors; never null. */
static inline void *harness_alloc(size_t count, size_t size)
{
  void *memory = NULL;
  size_t bytes = count * size;
  if (posix_memalign(&memory, 64, bytes > 0 ? bytes : 64) != 0) {
    fprintf(stderr, "no memory for %zu bytes\n", bytes);
    exit(2);
  }
  memset(memory, 0, bytes > 0 ? bytes : 64);
  return memory;
}

/* The value of a size: of the environment if it has one (at most 2^20), of the macro otherwise. */
static inline int harness_size(const char *name, int otherwise)
{
  const char *text = getenv(name);
  long value = text != NULL ? strtol(text, NULL, 10) : otherwise;
  return value >= 0 && value <= 1 << 20 ? (int)value : otherwise;
}

#define SIZE(name) harness_size(#name, name)

static struct timespec harness_started;
static double harness_best = -1.0;
static double harness_total = 0.0;

static inline void harness_start(void)
{
  clock_gettime(CLOCK_MONOTONIC, &harness_started);
}

static inline void harness_stop(void)
{
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  double seconds = (double)(now.tv_sec - harness_started.tv_sec) + 1e-9 * (double)(now.tv_nsec - harness_started.tv_nsec);
  if (harness_best < 0.0 || seconds < harness_best)
    harness_best = seconds;
  harness_total += seconds;
  if (harness_total > HARNESS_ENOUGH)
    harness_repetitions = 0;
}

static FILE *harness_file;
static uint64_t harness_sum = UINT64_C(0xcbf29ce484222325);

static inline void harness_open(int argc, char **argv)
{
  if (argc > 1) {
    harness_file = fopen(argv[1], "wb");
    if (harness_file == NULL) {
      perror(argv[1]);
      exit(2);
    }
  }
}

static inline void harness_output(const char *name, const char *type, const void *data, size_t count, size_t size)
{
  const unsigned char *bytes = (const unsigned char *)data;
  for (size_t k = 0; k < count * size; k++)
    harness_sum = (harness_sum ^ bytes[k]) * UINT64_C(0x100000001b3);
  if (harness_file != NULL) {
    fprintf(harness_file, "%s %s %zu\n", name, type, count);
    if (fwrite(data, size, count, harness_file) != count) {
      perror("write");
      exit(2);
    }
  }
}

#define HARNESS_TYPE(p) \
  _Generic(*(p), double: "double", float: "float", int: "int", long: "long", long long: "long", _Bool: "bool", \
    signed char: "i8", unsigned char: "u8", short: "i16", unsigned short: "u16", unsigned: "u32", unsigned long: "u64")

/* An array that the kernel has written: its first element, how many. */
#define OUTPUT(name, first, count) \
  harness_output(name, HARNESS_TYPE(first), (first), (size_t)(count), sizeof *(first))

static inline int harness_finish(const char *kernel)
{
  if (harness_file != NULL && fclose(harness_file) != 0) {
    perror("close");
    return 2;
  }
  printf("%s seconds %.9f checksum %016llx\n", kernel, harness_best, (unsigned long long)harness_sum);
  return 0;
}

#endif
