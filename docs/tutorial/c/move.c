/* Callers may pass two parts of one array: nothing says restrict. */
void move(int n, double *to, const double *from) {
#pragma scop
  for (int i = 0; i < n; i++)
    to[i] = 2 * from[i];
#pragma endscop
}
