  #pragma omp parallel for firstprivate(n) if (n > 10000)
  for (long i = 0; i < n; i++) {
    a_c[i] = a_c[i] * 2.0f;
  }
  a_c[0] += 1.0f;
  a_c[0] += 1.0f;
  a_c[0] += 1.0f;
