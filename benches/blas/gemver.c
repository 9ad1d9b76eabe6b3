cblas_dger(ROWS, n, n, 1, u1, 1, v1, 1, &A[0][0], n);
cblas_dger(ROWS, n, n, 1, u2, 1, v2, 1, &A[0][0], n);
cblas_dgemv(ROWS, TRANSPOSED, n, n, beta, &A[0][0], n, y, 1, 1, x, 1);
cblas_daxpy(n, 1, z, 1, x, 1);
cblas_dgemv(ROWS, PLAIN, n, n, alpha, &A[0][0], n, x, 1, 1, w, 1);
