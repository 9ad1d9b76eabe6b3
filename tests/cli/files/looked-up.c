void gather(int n, double *a, const double *b, const int *restrict at) {
#pragma scop
  for (int i = 0; i < n; i++)
    a[i] = a[i] > 0.0 ? b[at[i]] : 1.0;
#pragma endscop
}
