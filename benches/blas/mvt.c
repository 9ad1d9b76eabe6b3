cblas_dgemv(ROWS, PLAIN, n, n, 1, &A[0][0], n, y1, 1, 1, x1, 1);
cblas_dgemv(ROWS, TRANSPOSED, n, n, 1, &A[0][0], n, y2, 1, 1, x2, 1);
