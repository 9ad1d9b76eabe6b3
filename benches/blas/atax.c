cblas_dgemv(ROWS, PLAIN, m, n, 1, &A[0][0], n, x, 1, 0, tmp, 1);
cblas_dgemv(ROWS, TRANSPOSED, m, n, 1, &A[0][0], n, tmp, 1, 0, y, 1);
