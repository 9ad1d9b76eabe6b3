cblas_dtrmm(ROWS, LEFT, LOWER, TRANSPOSED, UNIT, m, n, alpha, &A[0][0], m, &B[0][0], n);
