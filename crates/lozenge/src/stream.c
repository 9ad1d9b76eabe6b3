/* What memory gives, at most: the loops of the STREAM benchmark on as many bytes as the measured program touches. */
#include <stdint.h>

int lozenge_stream_read(int64_t n, const double *restrict a, double *restrict out)
{
    double s = 0;
#pragma omp parallel for simd reduction(+ : s)
    for (int64_t i = 0; i < n; i++) s += a[i];
    *out = s;
    return 0;
}

int lozenge_stream_copy(int64_t n, const double *restrict a, double *restrict out)
{
#pragma omp parallel for simd
    for (int64_t i = 0; i < n; i++) out[i] = 3.0 * a[i];
    return 0;
}

int lozenge_stream_triad(int64_t n, const double *restrict a, const double *restrict b, double *restrict out)
{
#pragma omp parallel for simd
    for (int64_t i = 0; i < n; i++) out[i] = a[i] + 3.0 * b[i];
    return 0;
}
