static inline void twice(int n, double *restrict a) {
#pragma scop
  for (int i = 0; i < n; i++)
    a[i] *= 2;
#pragma endscop
}
int first(int n, double *restrict a) {
  int i;
#pragma scop
  for (i = 0; i < n; i++)
    if (a[i] > 3)
      return i;
#pragma endscop
  twice(n, a);
  return i;
}
