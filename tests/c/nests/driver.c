/* Runs all nests, whose list is in `list.h`, and prints what they leave in memory; with an argument,
   their times in microseconds. */
#define _POSIX_C_SOURCE 199309L
#include "driver.h"
#include <time.h>

float *float_blocks[BLOCKS];
double *double_blocks[BLOCKS], **row_blocks[BLOCKS], ***plane_blocks[BLOCKS];
int *int_blocks[BLOCKS], *start_block;
unsigned char *byte_blocks[BLOCKS];
long *long_blocks[BLOCKS];

#define NEST(name) void run_##name(int); extern const int size_of_##name;
#include "list.h"
#undef NEST

struct nest { const char *name; void (*run)(int); const int *size; };
static const struct nest nests[] = {
#define NEST(name) { #name, run_##name, &size_of_##name },
#include "list.h"
};

static int cap;

static void *block(size_t bytes)
{
  void *memory = calloc(cap + 64, bytes);
  if (!memory)
    exit(1);
  return memory;
}

static void make(void)
{
  for (int k = 0; k < BLOCKS; k++) {
    float_blocks[k] = block(sizeof(float));
    double_blocks[k] = block(sizeof(double));
    int_blocks[k] = block(sizeof(int));
    byte_blocks[k] = block(1);
    long_blocks[k] = block(sizeof(long));
    row_blocks[k] = block(sizeof(double *));
    plane_blocks[k] = block(sizeof(double **));
  }
  start_block = block(sizeof(int));
}

/* Rows of one block lie one behind another, and planes have rows of their own. */
static void fill(int n)
{
  for (int k = 0; k < BLOCKS; k++)
    for (int i = 0; i < cap; i++) {
      float_blocks[k][i] = ((i * 7 + k * 13) % 101) * 0.0125f + 0.25f;
      double_blocks[k][i] = ((i * 11 + k * 17) % 103) * 0.0125 + 0.25;
      int_blocks[k][i] = (i * 5 + k) % (n > 0 ? n : 1);
      byte_blocks[k][i] = (unsigned char)(i * 37 + k * 91);
      long_blocks[k][i] = (i * 3 + k * 7) % 97 - 20;
    }
  for (int i = 0; i <= n; i++)
    start_block[i] = i * (n < 3 ? n : 3);
  static double **rows[BLOCKS];
  for (int k = 0; k < BLOCKS; k++) {
    if (!rows[k])
      rows[k] = block(sizeof(double *));
    for (int i = 0; i < n; i++)
      row_blocks[k][i] = double_blocks[k] + (size_t)i * n;
    for (long i = 0; i < n && (i + 1) * n * n <= cap; i++) {
      plane_blocks[k][i] = rows[k] + i * n;
      for (int j = 0; j < n; j++)
        plane_blocks[k][i][j] = double_blocks[k] + (i * n + j) * n;
    }
  }
}

static uint64_t hash(uint64_t seed, const void *memory, size_t bytes)
{
  const unsigned char *at = memory;
  for (size_t k = 0; k + 8 <= bytes; k += 8) {
    uint64_t word;
    memcpy(&word, at + k, 8);
    seed = (seed ^ word) * 0x9E3779B97F4A7C15u;
    seed ^= seed >> 29;
  }
  return seed;
}

static uint64_t left(void)
{
  uint64_t seed = 1;
  for (int k = 0; k < BLOCKS; k++) {
    seed = hash(seed, float_blocks[k], cap * sizeof(float));
    seed = hash(seed, double_blocks[k], cap * sizeof(double));
    seed = hash(seed, int_blocks[k], cap * sizeof(int));
    seed = hash(seed, byte_blocks[k], cap);
    seed = hash(seed, long_blocks[k], cap * sizeof(long));
  }
  return seed;
}

static double now(void)
{
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec * 1e6 + t.tv_nsec * 1e-3;
}

/* The least of several times; as many runs as take some time are one. */
static double timed(const struct nest *nest)
{
  double best = 1e30;
  int runs = 1;
  for (int k = 0; k < 7; k++) {
    double begin = now();
    for (int r = 0; r < runs; r++)
      nest->run(*nest->size);
    double took = (now() - begin) / runs;
    if (k == 0)
      runs = took > 2e3 ? 1 : (int)(2e3 / (took + 0.01)) + 1;
    else if (took < best)
      best = took;
  }
  return best;
}

int main(int argc, char **argv)
{
  static const int sizes[] = { 0, 1, 2, 5, 13 };
  cap = argc > 1 ? 1 << 20 : 1 << 15;
  make();
  for (size_t k = 0; k < sizeof nests / sizeof *nests; k++) {
    const struct nest *nest = &nests[k];
    if (argc > 2 && strcmp(argv[2], nest->name) != 0)
      continue;
    if (argc > 1) {
      fill(*nest->size);
      printf("%s %.3f\n", nest->name, timed(nest));
      continue;
    }
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
      fill(sizes[s]);
      nest->run(sizes[s]);
      printf("%s %d %016llx\n", nest->name, sizes[s], (unsigned long long)left());
    }
  }
  return 0;
}
