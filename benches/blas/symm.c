cblas_dsymm(ROWS, LEFT, LOWER, m, n, alpha, &A[0][0], m, &B[0][0], n, beta, &C[0][0], n);
