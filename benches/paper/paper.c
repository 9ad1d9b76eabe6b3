/* References for the programs of paper.loz: DEFINITION__NAME has the parameters of the generated function.
   `sequential` and `openmp` are the plain loops a C programmer would write first; `blas` is the library call, where the library has one. */
#include <stdint.h>
#ifdef WITH_CBLAS
/* As in the reference header; declared here so that neither library's own header is needed. */
enum { ROW_MAJOR = 101, NO_TRANSPOSE = 111 };
void cblas_scopy(int n, const float *x, int incx, float *y, int incy);
void cblas_sscal(int n, float alpha, float *x, int incx);
void cblas_saxpy(int n, float alpha, const float *x, int incx, float *y, int incy);
float cblas_sdot(int n, const float *x, int incx, const float *y, int incy);
void cblas_sgemm(int order, int transa, int transb, int m, int n, int k, float alpha, const float *a, int lda, const float *b, int ldb, float beta, float *c, int ldc);
#endif

int scale__sequential(int64_t n, int64_t m, float k, const float *restrict a, float *restrict out)
{
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < m; j++) out[i * m + j] = k * a[i * m + j];
    return 0;
}

int scale__openmp(int64_t n, int64_t m, float k, const float *restrict a, float *restrict out)
{
#pragma omp parallel for
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < m; j++) out[i * m + j] = k * a[i * m + j];
    return 0;
}

int axpy__sequential(int64_t n, int64_t m, float k, const float *restrict a, const float *restrict b, float *restrict out)
{
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < m; j++) out[i * m + j] = k * a[i * m + j] + b[i * m + j];
    return 0;
}

int axpy__openmp(int64_t n, int64_t m, float k, const float *restrict a, const float *restrict b, float *restrict out)
{
#pragma omp parallel for
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < m; j++) out[i * m + j] = k * a[i * m + j] + b[i * m + j];
    return 0;
}

int sum__sequential(int64_t n, int64_t m, const float *restrict a, float *restrict out)
{
    float s = 0;
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < m; j++) s += a[i * m + j];
    *out = s;
    return 0;
}

int sum__openmp(int64_t n, int64_t m, const float *restrict a, float *restrict out)
{
    float s = 0;
#pragma omp parallel for reduction(+ : s)
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < m; j++) s += a[i * m + j];
    *out = s;
    return 0;
}

int dot__sequential(int64_t n, const float *restrict xs, const float *restrict ys, float *restrict out)
{
    float s = 0;
    for (int64_t i = 0; i < n; i++) s += xs[i] * ys[i];
    *out = s;
    return 0;
}

int dot__openmp(int64_t n, const float *restrict xs, const float *restrict ys, float *restrict out)
{
    float s = 0;
#pragma omp parallel for reduction(+ : s)
    for (int64_t i = 0; i < n; i++) s += xs[i] * ys[i];
    *out = s;
    return 0;
}

int product__sequential(int64_t n, int64_t k, int64_t m, const float *restrict a, const float *restrict b, float *restrict out)
{
    for (int64_t i = 0; i < n; i++) {
        for (int64_t j = 0; j < m; j++) out[i * m + j] = 0;
        for (int64_t p = 0; p < k; p++)
            for (int64_t j = 0; j < m; j++) out[i * m + j] += a[i * k + p] * b[p * m + j];
    }
    return 0;
}

int product__openmp(int64_t n, int64_t k, int64_t m, const float *restrict a, const float *restrict b, float *restrict out)
{
#pragma omp parallel for
    for (int64_t i = 0; i < n; i++) {
        for (int64_t j = 0; j < m; j++) out[i * m + j] = 0;
        for (int64_t p = 0; p < k; p++)
            for (int64_t j = 0; j < m; j++) out[i * m + j] += a[i * k + p] * b[p * m + j];
    }
    return 0;
}

#ifdef WITH_CBLAS
int scale__blas(int64_t n, int64_t m, float k, const float *restrict a, float *restrict out)
{
    for (int64_t i = 0; i < n; i++) {
        cblas_scopy((int)m, a + i * m, 1, out + i * m, 1);
        cblas_sscal((int)m, k, out + i * m, 1);
    }
    return 0;
}

int axpy__blas(int64_t n, int64_t m, float k, const float *restrict a, const float *restrict b, float *restrict out)
{
    for (int64_t i = 0; i < n; i++) {
        cblas_scopy((int)m, b + i * m, 1, out + i * m, 1);
        cblas_saxpy((int)m, k, a + i * m, 1, out + i * m, 1);
    }
    return 0;
}

int dot__blas(int64_t n, const float *restrict xs, const float *restrict ys, float *restrict out)
{
    *out = cblas_sdot((int)n, xs, 1, ys, 1);
    return 0;
}

int product__blas(int64_t n, int64_t k, int64_t m, const float *restrict a, const float *restrict b, float *restrict out)
{
    cblas_sgemm(ROW_MAJOR, NO_TRANSPOSE, NO_TRANSPOSE, (int)n, (int)m, (int)k, 1, a, (int)k, b, (int)m, 0, out, (int)m);
    return 0;
}
#endif
