void row(int n, int m, const float x[restrict n][m], float y[restrict n])
{
#pragma scop
  for (int i = 0; i < n; i++) {
    float e[m];
    float s = 0.0f;
    for (int j = 0; j < m; j++)
      e[j] = 2 * x[i][j];
    for (int j = 0; j < m; j++)
      s += e[j];
    y[i] = s;
  }
#pragma endscop
}
