cblas_dgemv(ROWS, PLAIN, n, n, 1, &A[0][0], n, x, 1, 0, tmp, 1);
cblas_dgemv(ROWS, PLAIN, n, n, beta, &B[0][0], n, x, 1, 0, y, 1);
cblas_daxpy(n, alpha, tmp, 1, y, 1);
