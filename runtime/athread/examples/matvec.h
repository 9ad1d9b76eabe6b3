struct matvec {
  int m, n; /* n is at most 2048 */
  double *a, *x, *y;
};
