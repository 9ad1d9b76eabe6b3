#ifndef LOZENGE_FMIN
#define LOZENGE_FMIN(a, b) __extension__({ union { double f; unsigned long long u; } lozenge_a, lozenge_b, lozenge_c; \
    lozenge_a.f = (a); lozenge_b.f = (b); \
    lozenge_c.f = lozenge_a.f < lozenge_b.f || lozenge_b.f != lozenge_b.f ? lozenge_a.f : lozenge_b.f; \
    lozenge_c.u = lozenge_a.f == lozenge_b.f ? lozenge_a.u | lozenge_c.u : lozenge_c.u; \
    lozenge_c.f; })
#if defined(__clang__)
#undef LOZENGE_FMIN
#define LOZENGE_FMIN(a, b) __extension__({ const double lozenge_a = (a), lozenge_b = (b); \
    double lozenge_c = __builtin_fmin(lozenge_a, lozenge_b); \
    if (__builtin_expect(lozenge_a == lozenge_b, 0)) lozenge_c = lozenge_a == 0 ? -(-lozenge_a - lozenge_b) : lozenge_c; \
    lozenge_c; })
#endif
#endif
#ifndef LOZENGE_FMAX
#define LOZENGE_FMAX(a, b) __extension__({ union { double f; unsigned long long u; } lozenge_a, lozenge_b, lozenge_c; \
    lozenge_a.f = (a); lozenge_b.f = (b); \
    lozenge_c.f = lozenge_a.f > lozenge_b.f || lozenge_b.f != lozenge_b.f ? lozenge_a.f : lozenge_b.f; \
    lozenge_c.u = lozenge_a.f == lozenge_b.f ? lozenge_a.u & lozenge_c.u : lozenge_c.u; \
    lozenge_c.f; })
#if defined(__clang__)
#undef LOZENGE_FMAX
#define LOZENGE_FMAX(a, b) __extension__({ const double lozenge_a = (a), lozenge_b = (b); \
    double lozenge_c = __builtin_fmax(lozenge_a, lozenge_b); \
    if (__builtin_expect(lozenge_a == lozenge_b, 0)) lozenge_c = lozenge_a == 0 ? lozenge_a + lozenge_b : lozenge_c; \
    lozenge_c; })
#endif
#endif
#ifndef LOZENGE_FMINF
#define LOZENGE_FMINF(a, b) __extension__({ union { float f; unsigned u; } lozenge_a, lozenge_b, lozenge_c; \
    lozenge_a.f = (a); lozenge_b.f = (b); \
    lozenge_c.f = lozenge_a.f < lozenge_b.f || lozenge_b.f != lozenge_b.f ? lozenge_a.f : lozenge_b.f; \
    lozenge_c.u = lozenge_a.f == lozenge_b.f ? lozenge_a.u | lozenge_c.u : lozenge_c.u; \
    lozenge_c.f; })
#if defined(__clang__)
#undef LOZENGE_FMINF
#define LOZENGE_FMINF(a, b) __extension__({ const float lozenge_a = (a), lozenge_b = (b); \
    float lozenge_c = __builtin_fminf(lozenge_a, lozenge_b); \
    if (__builtin_expect(lozenge_a == lozenge_b, 0)) lozenge_c = lozenge_a == 0 ? -(-lozenge_a - lozenge_b) : lozenge_c; \
    lozenge_c; })
#endif
#endif
#ifndef LOZENGE_FMAXF
#define LOZENGE_FMAXF(a, b) __extension__({ union { float f; unsigned u; } lozenge_a, lozenge_b, lozenge_c; \
    lozenge_a.f = (a); lozenge_b.f = (b); \
    lozenge_c.f = lozenge_a.f > lozenge_b.f || lozenge_b.f != lozenge_b.f ? lozenge_a.f : lozenge_b.f; \
    lozenge_c.u = lozenge_a.f == lozenge_b.f ? lozenge_a.u & lozenge_c.u : lozenge_c.u; \
    lozenge_c.f; })
#if defined(__clang__)
#undef LOZENGE_FMAXF
#define LOZENGE_FMAXF(a, b) __extension__({ const float lozenge_a = (a), lozenge_b = (b); \
    float lozenge_c = __builtin_fmaxf(lozenge_a, lozenge_b); \
    if (__builtin_expect(lozenge_a == lozenge_b, 0)) lozenge_c = lozenge_a == 0 ? lozenge_a + lozenge_b : lozenge_c; \
    lozenge_c; })
#endif
#endif
  x_c[0] = 0.0;
  x_c[1] = -x_c[0];
  x_c[2] = 1.0 / x_c[0];
  x_c[3] = 1.0 / x_c[1];
  x_c[4] = x_c[0] / x_c[1];
  x_c[5] = 2.5;
  x_c[6] = -x_c[5];
  x_c[7] = x_c[5];
  for (long i = 0; i < 8; i++) {
    y_c[i] = (float)x_c[i];
  }
  for (long i = 0; i < 8; i++) {
    for (long j = 0; j < 8; j++) {
      least_c[i][j] = LOZENGE_FMIN(x_c[i], x_c[j]);
      most_c[i][j] = LOZENGE_FMAX(x_c[i], x_c[j]);
      few_c[i][j] = LOZENGE_FMINF(y_c[i], y_c[j]);
      many_c[i][j] = LOZENGE_FMAXF(y_c[i], y_c[j]);
    }
  }
  for (long i = 0; i < n; i++) {
    {
      double top_value = top_c[i];
      for (long j = 0; j < 8; j++) {
        top_value = LOZENGE_FMAX(top_value, most_c[j][i % 8]);
      }
      top_c[i] = top_value;
    }
  }
