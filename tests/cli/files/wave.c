double a[1000][1000];

void wave(void)
{
#pragma scop
  for (int i = 1; i < 1000; i++)
    for (int j = 1; j < 1000; j++)
      a[i][j] = 0.25 * (a[i - 1][j] + a[i][j - 1]);
#pragma endscop
}
