// Conditions of all forms.
void conditions(int n, int m, double A[restrict n][m])
{
#pragma scop
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++) {
      if (i == j) A[i][j] = 1;
      else if (i < j && j != m - 1) A[i][j] = 2;
      else A[i][j] = 3;
      if (!(i > 2 || j <= 1)) A[i][j] += 4;
      if ((i + j) % 2) A[i][j] += 5;
      if ((i - j) % 3 == 1) A[i][j] += 6;
      if ((i - j) / 2 < -1) A[i][j] += 7;
      if (n > 10) A[i][j] += 8;
      if (1) A[i][j] += 9;
      if (0) A[i][j] += 10;
      if (i > j ? i < 5 : j < 5) A[i][j] += 11;
      if (2 * i + 1 >= j / 3) { A[i][j] += 12; } else ;
    }
#pragma endscop
}
