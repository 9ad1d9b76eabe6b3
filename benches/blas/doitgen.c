double *block = malloc(sizeof(double) * (size_t)nq * (size_t)np);
if (block == NULL) exit(2);
for (int r = 0; r < nr; r++) {
  cblas_dgemm(ROWS, PLAIN, PLAIN, nq, np, np, 1, &A[r][0][0], np, &C4[0][0], np, 0, block, np);
  cblas_dcopy(nq * np, block, 1, &A[r][0][0], 1);
}
cblas_dcopy(np, block + (size_t)(nq - 1) * (size_t)np, 1, sum, 1);
free(block);
