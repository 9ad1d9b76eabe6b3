struct product {
  int m, n, k;
  double *a, *b, *c; /* m x k, k x n, m x n, row by row */
};
