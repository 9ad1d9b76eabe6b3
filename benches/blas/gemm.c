cblas_dgemm(ROWS, PLAIN, PLAIN, ni, nj, nk, alpha, &A[0][0], nk, &B[0][0], nj, beta, &C[0][0], nj);
