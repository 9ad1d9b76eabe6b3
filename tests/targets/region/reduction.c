#ifndef LOZENGE_MIN
#define LOZENGE_MIN(a, b) ((a) < (b) ? (a) : (b))
#endif
#ifndef LOZENGE_MAX
#define LOZENGE_MAX(a, b) ((a) > (b) ? (a) : (b))
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
#ifndef LOZENGE_FLOOR_DIV
#define LOZENGE_FLOOR_DIV(a, b) ((a) / (b) - ((a) % (b) != 0 && ((a) % (b) < 0) != ((b) < 0)))
#endif
#ifndef LOZENGE_MOD
#define LOZENGE_MOD(a, b) ((a) % (b) + ((a) % (b) != 0 && ((a) % (b) < 0) != ((b) < 0) ? (b) : 0))
#endif
#ifndef LOZENGE_EXTENT
#define LOZENGE_EXTENT(n) ((n) > 0 ? (__SIZE_TYPE__)(n) : 0)
#endif
#ifndef LOZENGE_ALIGN
#define LOZENGE_ALIGN(p) ((void *)(((__UINTPTR_TYPE__)(p) + 63) / 64 * 64))
#endif
  {
    void *half_block = __builtin_malloc(LOZENGE_EXTENT((long)m - 1) * sizeof(double) + 64);
    if (!half_block) {
      __builtin_abort();
    }
    double *__restrict half = LOZENGE_ALIGN(half_block);
    {
      int threads = 0;
      #pragma omp parallel firstprivate(m, n) if ((double)n * m > 2500)
      {
        double s_part;
        void *row_part_block = __builtin_malloc(LOZENGE_EXTENT(m) * sizeof(double) + 64);
        #pragma omp atomic
        threads += 1;
        if (!row_part_block) {
          __builtin_abort();
        }
        double *__restrict row_part = LOZENGE_ALIGN(row_part_block);
        float most_part;
        int fixed_part[4];
        s_part = 0.0;
        for (long r0 = 0; r0 < m; r0++) {
          row_part[r0] = 0.0;
        }
        most_part = __builtin_nan("");
        for (long r0 = 0; r0 < 4; r0++) {
          fixed_part[r0] = 0;
        }
        #pragma omp for schedule(static)
        for (long i = 0; i < n; i++) {
          for (long j = 0; j < m; j++) {
            s_part += a_c[i][j];
            row_part[j] += a_c[i][j];
            most_part = LOZENGE_FMAXF(most_part, (float)a_c[i][j]);
            fixed_part[LOZENGE_MOD(i - j, 4)] += 1;
          }
        }
        #pragma omp for ordered schedule(static, 1)
        for (int turn = 0; turn < threads; turn++) {
          #pragma omp ordered
          {
            s_c += s_part;
            for (long r0 = 0; r0 < m; r0++) {
              row_c[r0] += row_part[r0];
            }
            most_c = LOZENGE_FMAXF(most_c, most_part);
            for (long r0 = 0; r0 < 4; r0++) {
              fixed_c[r0] += fixed_part[r0];
            }
          }
        }
        __builtin_free(row_part_block);
      }
    }
    for (long t = 0; t < (long)n + m - 1; t++) {
      #pragma omp simd
      for (long i = LOZENGE_MAX(0, t - m + 1); i < LOZENGE_MIN(n, t + 1); i++) {
        if ((i + t) % 2 == 0 || LOZENGE_FLOOR_DIV(t - 2 * i, 3) > 1) {
          out_c[i] = out_c[i] + a_c[i][t - i] * (i == 0 ? 2.0 : 0.5);
        } else {
          out_c[i] = LOZENGE_FMAX(out_c[i], fabs((double)__builtin_labs(i - t)));
        }
      }
    }
    for (long j = 0; j < (long)m - 1; j++) {
      half[j] = row_c[j + 1] * 0.5;
    }
    for (long j = 0; j < (long)m - 1; j++) {
      row_c[j] += half[j];
    }
    __builtin_free(half_block);
  }
