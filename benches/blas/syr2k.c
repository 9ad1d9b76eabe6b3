cblas_dsyr2k(ROWS, LOWER, PLAIN, n, m, alpha, &A[0][0], m, &B[0][0], m, beta, &C[0][0], n);
