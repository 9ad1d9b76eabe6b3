#ifndef LOZENGE_MIN
#define LOZENGE_MIN(a, b) ((a) < (b) ? (a) : (b))
#endif
#ifndef LOZENGE_MAX
#define LOZENGE_MAX(a, b) ((a) > (b) ? (a) : (b))
#endif
  #pragma omp parallel for firstprivate(n) schedule(dynamic, 8)
  for (long i = 0; i < n; i++) {
    for (long j = i + 1; j < n; j++) {
      a_c[j][i] = a_c[i][j] * 2.0;
    }
  }
  #pragma omp parallel for firstprivate(m, n) if ((double)n * ((long)m - 2) > 10000)
  for (long i = 0; i < n; i++) {
    for (long j = 0; j < LOZENGE_MIN(1, m); j++) {
      c_c[i][j] *= 2.0;
    }
    #pragma omp simd
    for (long j = 1; j < (long)m - 1; j++) {
      c_c[i][j] += 0.5;
    }
    for (long j = LOZENGE_MAX(1, (long)m - 1); j < m; j++) {
      c_c[i][j] *= 2.0;
    }
  }
  #pragma omp parallel for firstprivate(m, n) schedule(dynamic, 16)
  for (long j = 0; j < LOZENGE_MIN(n, m); j++) {
    for (long i = j; i < n; i++) {
      b_c[i][j] += 1.0f;
    }
  }
