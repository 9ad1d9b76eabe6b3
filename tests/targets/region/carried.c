#ifndef LOZENGE_MAX
#define LOZENGE_MAX(a, b) ((a) > (b) ? (a) : (b))
#endif
  #pragma omp parallel for firstprivate(m, n) schedule(dynamic) if ((double)((long)n + 1) * (long)m > 5000)
  for (long i = 0; i < (long)n + 1; i++) {
    if (1 < (long)m + 1) {
      int a_value = a_c[i];
      {
        int t_before = t_c[i][0];
        #pragma GCC unroll 1
        for (long j = 1; j < (long)m + 1; j++) {
          if (a_value == b_c[j]) {
            t_before = t_before + 1;
          } else {
            t_before = LOZENGE_MAX(t_c[i][j], t_before);
          }
          t_c[i][j] = t_before;
        }
      }
    }
    if (LOZENGE_MAX(1, i) < (long)m + 1) {
      double s_before = s_c[i][LOZENGE_MAX(1, i) - 1];
      for (long j = LOZENGE_MAX(1, i); j < (long)m + 1; j++) {
        s_before = 0.5 * s_c[i][j] + s_before;
        s_c[i][j] = s_before;
      }
    }
    for (long j = 0; j < (long)m + 1; j++) {
      if (j > i) {
        u_c[i][j] = u_c[i][j] + u_c[i][j - 1];
      } else {
        u_c[i][j] = 1.0;
      }
    }
    for (long j = 1; j < (long)m + 1; j++) {
      if (j > i) {
        u_c[i][j] = u_c[i][j] - u_c[i][j - 1];
      } else {
        u_c[i][j] = 2.0;
      }
    }
    if (1 < (long)m + 1) {
      double s_before = s_c[i][0];
      for (long j = 1; j < (long)m + 1; j++) {
        s_before = s_before * 0.25;
        s_c[i][j] = s_before;
        u_c[i][j] = s_c[i][j];
      }
    }
    if (0 < m) {
      double s_before = s_c[i][0];
      double u_before = u_c[i][0];
      for (long j = 0; j < m; j++) {
        double x = 1.0 / (4.0 - s_before);
        s_before = u_c[i][j + 1] * x;
        s_c[i][j + 1] = s_before;
        u_before = u_before * x + 1.0;
        u_c[i][j + 1] = u_before;
      }
    }
    if (0 < m) {
      double u_before = u_c[i][m];
      for (long j = 0; j < m; j++) {
        u_before = s_c[i][m - j - 1] - 0.5 * u_before;
        u_c[i][m - j - 1] = u_before;
      }
    }
    for (long j = 1; j < (long)m + 1; j++) {
      u_c[i][j] = 0.5;
      s_c[i][j] = u_c[i][j - 1];
    }
    #pragma GCC unroll 1
    for (long j = 0; j < m; j++) {
      s_c[i][j + 1] = u_c[i][j] > 0.0 ? s_c[i][j] : 1.0;
    }
  }
