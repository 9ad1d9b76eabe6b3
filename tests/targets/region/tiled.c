#ifndef LOZENGE_MIN
#define LOZENGE_MIN(a, b) ((a) < (b) ? (a) : (b))
#endif
#ifndef LOZENGE_EXTENT
#define LOZENGE_EXTENT(n) ((n) > 0 ? (__SIZE_TYPE__)(n) : 0)
#endif
#ifndef LOZENGE_ALIGN
#define LOZENGE_ALIGN(p) ((void *)(((__UINTPTR_TYPE__)(p) + 63) / 64 * 64))
#endif
  #pragma omp parallel firstprivate(alpha_c, m, n, p)
  {
    void *panel_block = __builtin_malloc(32 * LOZENGE_EXTENT(m) * sizeof(double) + 64);
    if (!panel_block) {
      __builtin_abort();
    }
    double *__restrict panel = LOZENGE_ALIGN(panel_block);
    #pragma omp for
    for (long t0 = 0; t0 < ((long)n + 31) / 32; t0++) {
      for (long t1 = 0; t1 < ((long)p + 31) / 32; t1++) {
        for (long i = 32 * t0; i < LOZENGE_MIN(n, 32 * t0 + 32); i++) {
          for (long k = 0; k < m; k++) {
            panel[(i - 32 * t0) * m + k] = alpha_c * flat_a_c[i * m + k];
          }
        }
        for (long i = 32 * t0; i < LOZENGE_MIN(n, 32 * t0 + 32); i++) {
          for (long k = 0; k < m; k++) {
            {
              double panel_value = panel[(i - 32 * t0) * m + k];
              #pragma omp simd
              for (long j = 32 * t1; j < LOZENGE_MIN(p, 32 * t1 + 32); j++) {
                c_c[i][j] += panel_value * b_c[k][j];
              }
            }
          }
        }
      }
    }
    __builtin_free(panel_block);
  }
