// Sizes of arrays with constant extents are numbers.
#define LENGTH(a) (sizeof(a) / sizeof((a)[0]))
#define N 12
enum { ROWS = 5 };
typedef float row[7];
double G[N];
row T[ROWS];
int listed[] = {3, 1, 4, 1, 5};
int rows[][2] = {{3, 1}, {4, 1}, {5, 9}};
void f(int n, double x[restrict n], double (*restrict p)[9])
{
#pragma scop
  double own[6];
  for (int i = 0; i < sizeof G / sizeof *G; i++)
    G[i] += 1;
  for (unsigned long i = 0; i < sizeof T / sizeof T[0]; i++)
    for (int j = LENGTH(T[0]) - 1; j >= 0; j--)
      T[i][j] *= 2;
  for (int i = 0; i < LENGTH(listed) - 1; i++)
    listed[i] += listed[i + 1];
  for (int i = 0; i < (int)LENGTH(rows); i++)
    rows[i][0] += rows[i][1];
  for (int i = 0; i < LENGTH(own); i++)
    own[i] = G[i];
  for (int i = 0; i < LENGTH(own); i++)
    G[i] = own[i] * sizeof(double);
  for (int j = 0; j < LENGTH(*p); j++)
    p[0][j] = x[j];
#pragma endscop
}
