cblas_dgemv(ROWS, TRANSPOSED, n, m, 1, &A[0][0], m, r, 1, 0, s, 1);
cblas_dgemv(ROWS, PLAIN, n, m, 1, &A[0][0], m, p, 1, 0, q, 1);
