/* Bodies that end early, and macros of several statements. */
#define BOTH(a, b) do { a; b; } while (0)
void f(int n, int m, double x[restrict n], double y[restrict n])
{
#pragma scop
  for (int i = 0; i < n; i++) {
    if (i == m) continue;
    x[i] = 1;
    if (x[i] > y[i]) { y[i] = 2; continue; }
    double t = x[i];
    y[i] += t;
    continue;
  }
  for (int i = 0; i < n; i++) {
    if (i > 3) {
      if (x[i] > 0) { y[i] = 1; continue; }
      else { continue; }
    } else if (i > 2)
      x[i] = 2;
    y[i] = 3;
  }
  for (int i = 0; i < n; i++) {
    continue;
    x[i] = 7;
  }
  for (int i = 0; i < n; i++)
    BOTH(BOTH(x[i] = 1, y[i] = 2), do ; while (0));
  do { if (m > 2) break; x[0] = 1; if (m > 1) continue; x[1] = 2; } while (0);
#pragma endscop
}
