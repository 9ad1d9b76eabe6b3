/* Each element becomes the sum of all elements up to it. */
void prefix(int n, double a[restrict n]) {
#pragma scop
  for (int i = 1; i < n; i++)
    a[i] += a[i - 1];
#pragma endscop
}
