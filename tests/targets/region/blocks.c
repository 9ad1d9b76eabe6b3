#ifndef LOZENGE_EXTENT
#define LOZENGE_EXTENT(n) ((n) > 0 ? (__SIZE_TYPE__)(n) : 0)
#endif
#ifndef LOZENGE_ALIGN
#define LOZENGE_ALIGN(p) ((void *)(((__UINTPTR_TYPE__)(p) + 63) / 64 * 64))
#endif
  {
    void *first_block = __builtin_malloc(LOZENGE_EXTENT(n) * sizeof(double) + 64);
    if (!first_block) {
      __builtin_abort();
    }
    double *__restrict first = LOZENGE_ALIGN(first_block);
    for (long i = 0; i < n; i++) {
      first[i] = a_c[i] * 2.0;
    }
    for (long i = 0; i < n; i++) {
      b_c[i] = first[(long)n - 1 - i];
    }
    __builtin_free(first_block);
  }
  {
    void *second_block = __builtin_malloc(LOZENGE_EXTENT(n) * sizeof(double) + 64);
    if (!second_block) {
      __builtin_abort();
    }
    double *__restrict second = LOZENGE_ALIGN(second_block);
    for (long i = 0; i < n; i++) {
      second[i] = b_c[i] + a_c[i];
    }
    for (long i = 0; i < n; i++) {
      b_c[i] = second[(long)n - 1 - i];
    }
    __builtin_free(second_block);
  }
