cblas_dgemm(ROWS, PLAIN, PLAIN, ni, nj, nk, alpha, &A[0][0], nk, &B[0][0], nj, 0, &tmp[0][0], nj);
cblas_dgemm(ROWS, PLAIN, PLAIN, ni, nl, nj, 1, &tmp[0][0], nj, &C[0][0], nl, beta, &D[0][0], nl);
