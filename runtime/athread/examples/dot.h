struct dot {
  int n; /* a multiple of 4 */
  double *x, *y;
  double *sum; /* of 4, the first is the result */
};
