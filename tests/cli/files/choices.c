/* Choices of what is read, in short loops and written out: gcc 12 gives masked loads of several vectors the mask of the first. */
void choices(int n, double x[restrict n][3], double s[restrict n][3], double y[restrict n][3],
             float u[restrict n][8], float v[restrict n][8], float w[restrict 8 * n])
{
#pragma scop
  for (int i = 0; i < n; i++)
    for (int q = 0; q < 3; q++)
      y[i][q] = x[i][q] < 0 ? s[i][q] : 1;
#pragma endscop
#pragma scop
  for (int i = 0; i < n; i++) {
    w[8 * i] = u[i][0] < 0 ? v[i][0] : 1;
    w[8 * i + 1] = u[i][1] < 0 ? v[i][1] : 1;
    w[8 * i + 2] = u[i][2] < 0 ? v[i][2] : 1;
    w[8 * i + 3] = u[i][3] < 0 ? v[i][3] : 1;
    w[8 * i + 4] = u[i][4] < 0 ? v[i][4] : 1;
    w[8 * i + 5] = u[i][5] < 0 ? v[i][5] : 1;
    w[8 * i + 6] = u[i][6] < 0 ? v[i][6] : 1;
    w[8 * i + 7] = u[i][7] < 0 ? v[i][7] : 1;
  }
#pragma endscop
}
