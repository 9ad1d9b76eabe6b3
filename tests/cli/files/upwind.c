/* Names for values on cores: differences, and one side or the other by a sign. */
void upwind(int n, const double q[restrict n][n], const double w[restrict n][n], double d[restrict n][n])
{
#pragma scop
  for (int i = 1; i < n - 1; i++)
    for (int j = 0; j < n; j++) {
      double flow, up = q[i][j] - q[i - 1][j], down = q[i + 1][j] - q[i][j];
      if (w[i][j] > 0)
        flow = w[i][j] * up;
      else
        flow = w[i][j] * down;
      d[i][j] = q[i][j] - flow;
    }
#pragma endscop
}
