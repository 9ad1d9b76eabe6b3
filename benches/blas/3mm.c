cblas_dgemm(ROWS, PLAIN, PLAIN, ni, nj, nk, 1, &A[0][0], nk, &B[0][0], nj, 0, &E[0][0], nj);
cblas_dgemm(ROWS, PLAIN, PLAIN, nj, nl, nm, 1, &C[0][0], nm, &D[0][0], nl, 0, &F[0][0], nl);
cblas_dgemm(ROWS, PLAIN, PLAIN, ni, nl, nj, 1, &E[0][0], nj, &F[0][0], nl, 0, &G[0][0], nl);
