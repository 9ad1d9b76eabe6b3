/* The C interface of BLAS as the texts of this folder call it; declared here so that no library's own header is needed. */
#ifndef CBLAS_CALLS_H
#define CBLAS_CALLS_H
enum { ROWS = 101, PLAIN = 111, TRANSPOSED = 112, LOWER = 122, UNIT = 132, LEFT = 141 };
void cblas_dcopy(int n, const double *x, int incx, double *y, int incy);
void cblas_daxpy(int n, double alpha, const double *x, int incx, double *y, int incy);
void cblas_dger(int order, int m, int n, double alpha, const double *x, int incx, const double *y, int incy, double *a, int lda);
void cblas_dgemv(int order, int trans, int m, int n, double alpha, const double *a, int lda, const double *x, int incx, double beta, double *y, int incy);
void cblas_dgemm(int order, int transa, int transb, int m, int n, int k, double alpha, const double *a, int lda, const double *b, int ldb, double beta, double *c, int ldc);
void cblas_dsymm(int order, int side, int uplo, int m, int n, double alpha, const double *a, int lda, const double *b, int ldb, double beta, double *c, int ldc);
void cblas_dsyrk(int order, int uplo, int trans, int n, int k, double alpha, const double *a, int lda, double beta, double *c, int ldc);
void cblas_dsyr2k(int order, int uplo, int trans, int n, int k, double alpha, const double *a, int lda, const double *b, int ldb, double beta, double *c, int ldc);
void cblas_dtrmm(int order, int side, int uplo, int trans, int diag, int m, int n, double alpha, const double *a, int lda, double *b, int ldb);
#endif
