/* Headers that count in their conditions or have several parts, and cannot be taken. */
void f(int n, unsigned m, double A[restrict n], int *restrict row)
{
  int i, j, k;
  double s;
  unsigned w;
#pragma scop
  for (unsigned u = m; --u > 0;) A[u] = 1;
  for (unsigned u = m; u-- >= 0;) A[u] = 1;
  for (i = n; i-- > 0; j++) A[i] = 2;
  for (i = 0; i++ > 3;) A[i] = 3;
  for (i = n; i-- > i;) A[i] = 3;
  for (i = 0, j = i; i < n; i++, j++) A[j] = 4;
  for (i = 0, s = 0; i < n; i++, s += i) A[i] = s;
  for (i = 0, k = 0; i < n; i += 2, k += 3) A[k] = 5;
  for (int a = 0, b = n * n; a < n; a++, b++) A[b] = 6;
  for (unsigned a = 0, b = m; a < m; a++, b -= 2) A[b] = 7;
  for (unsigned a = 0, b = m; a < b; a++, b--) A[b] = 8;
  for (int a = 0, b = n; a != b; a++, b--) A[b] = 8;
  for (short a = 0, b = 0; a < 9; a++, b++) A[b] = 9;
  for (int a = row[0], b = 0; a < row[1]; a++, b++) A[b] = 10;
  for (A[0] = 3, i = 0; i < n; i++) A[i] = 11;
  for (i = 0; A[0] = 1, i < n; i++) A[i] = 12;
  for (int a = 0, b = 0; a < n; a++, b++) { A[b] = 13; b += 1; }
  for (int a = 0, b = 0; a < n; a++, b++)
    for (b = 0; b < n; b++) A[b] = 14;
  for (i = 0; i < n; A[i] = 1, A[0] = 2) A[i] = 15;
  A[0] = (A[1] = 2, A[3]);
  A[w] = 1, w = 2;
#pragma endscop
}
int after(int n, double A[restrict n])
{
  int i, j;
#pragma scop
  for (int t = 0; t < n; t++)
    for (i = 0, j = n; i < n; i++, j--) A[i] = j;
#pragma endscop
  return i + j;
}
