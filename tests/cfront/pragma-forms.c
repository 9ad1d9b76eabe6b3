/* Pragmas with comments behind them, and over several lines. */
void f(int n, double x[restrict n])
{
#pragma scop // the first
  for (int i = 0; i < n; i++) x[i] = 1;
#pragma endscop /* the first */
  # pragma scop /* the second */ // one
  for (int i = 0; i < n; i++) x[i] = 2;
  #  pragma   endscop // with the first
#pragma \
    scop
  for (int i = 0; i < n; i++) x[i] = 3;
#pragma \
    endscop // the third
#pragma/**/scop \

  for (int i = 0; i < n; i++) x[i] = 4;
#pragma /* the */ endscop \

  x[0] = 1;
}
