// Conditionals on data.
void taken(int n, double x[restrict n], int w[restrict n], double largest)
{
  int at = 0;
#pragma scop
  for (int i = 0; i < n; i++) {
    if (x[i] > largest) { largest = x[i]; at = i; }
    if (x[i] < 0) x[i] = 0;
    if (w[i] < at) at = w[i]; else ;
    if (i > 1 && x[i] > x[i - 1]) at = 0; else at += 2;
    x[i] += at;
  }
#pragma endscop
}
