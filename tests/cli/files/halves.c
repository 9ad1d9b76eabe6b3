/* A convolution that goes two steps at a time: extents are quotients. */
void halves(int C, int K, int H, int W, const float x[restrict C][H][W], const float w[restrict K][C][3][3],
            float y[restrict K][(H - 1) / 2][(W - 1) / 2])
{
#pragma scop
  for (int k = 0; k < K; k++)
    for (int h = 0; h < (H - 1) / 2; h++)
      for (int v = 0; v < (W - 1) / 2; v++) {
        float s = 0;
        for (int c = 0; c < C; c++)
          for (int p = 0; p < 3; p++)
            for (int q = 0; q < 3; q++)
              s += x[c][2 * h + p][2 * v + q] * w[k][c][p][q];
        y[k][h][v] = s;
      }
#pragma endscop
}
