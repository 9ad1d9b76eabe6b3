/* Jumps that stay: what is behind them is reached on several ways, or they leave more than a body. */
void f(int n, int m, double A[restrict n])
{
  for (int r = 0; r < 3; r++) {
#pragma scop
    if (m > 3) continue;
    for (int i = 0; i < n; i++) {
      if (m > 1) {
        if (A[i] > 0) continue;
        A[i] = 1;
      }
      A[i] += 2;
    }
    for (int i = 0; i < n; i++) {
      {
        double t = A[i];
        if (t > 1) continue;
      }
      A[i] = 3;
    }
    for (int i = 0; i < n; i++)
      do {
        if (A[i] > 1) { if (m > 1) break; A[0] = 1; }
        A[i] = 3;
      } while (0);
    for (int i = 0; i < n; i++) {
      if (i > m) break;
      A[i] = 3;
    }
    do A[0] = 1; while (m > 3);
    for (int i = 0; i < n; i++)
      while (m) { if (i) continue; }
    if (m > 4) break;
#pragma endscop
  }
}
