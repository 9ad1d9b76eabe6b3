/* The last value of an inner loop's variable, where it may be read after the region. */
void under_a_condition(int n, double *restrict a, double *restrict out) {
  int i, j;
#pragma scop
  for (i = 0; i < n; i++)
    for (j = 0; j < 4; j++)
      out[i] += a[i] * j;
#pragma endscop
  if (n > 3)
    j = n;
  out[0] += j;
}

void jumped_over(int n, double *restrict a, double *restrict out) {
  int i, j;
  for (int again = 0; again < 2; again++) {
#pragma scop
    for (i = 0; i < n; i++)
      for (j = 0; j < 4; j++)
        out[i] += a[i] * j;
#pragma endscop
    if (n > 3)
      continue;
    j = n;
    out[0] += j;
  }
  out[1] = j;
}

void of_itself(int n, double *restrict a, double *restrict out) {
  int i, j;
#pragma scop
  for (i = 0; i < n; i++)
    for (j = 0; j < 4; j++)
      out[i] += a[i] * j;
#pragma endscop
  j = j + 1;
  out[0] += j;
}
