double table[64][100000];

void history(double *restrict last)
{
#pragma scop
  for (int i = 0; i < 64; i++) {
    for (int j = 1; j < 100000; j++)
      table[i][j] = table[i][j - 1] + table[i][99999 - j];
    last[i] = table[i][99999];
  }
#pragma endscop
}
