void heat(int t, int n, double a[restrict t + 1][n]) {
#pragma scop
  for (int s = 0; s < t; s++)
    for (int i = 1; i < n - 1; i++)
      a[s + 1][i] = (a[s][i - 1] + a[s][i] + a[s][i + 1]) / 3;
#pragma endscop
}
