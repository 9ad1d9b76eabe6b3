  #pragma omp parallel for if (n > 10000)
  for (int i = 0; i < n; i++) {
    a_c[i] = a_c[i] * 2.0f;
  }
  #pragma GCC unroll 3
  for (int i = 0; i < 3; i++) {
    a_c[i / 3] += 1.0f;
  }
