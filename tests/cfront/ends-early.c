// Loops that end early: a flag is the condition around their body.
void f(int n, int m, const int *restrict key, const double *restrict w, const int *restrict x, int *restrict at,
       double *restrict out)
{
  int j;
#pragma scop
  for (int i = 0; i < n; i++) {
    for (j = 0; j < m; j++)
      if (key[j] == x[i])
        break;
    at[i] = j;
  }
#pragma endscop
#pragma scop
  for (int i = 0; i < n; i++) {
    double s = 0;
    for (int k = 0, l = 1; k < m && s < 4.0; k++, l += 2) {
      if (w[k] < 0)
        continue;
      s += w[k] * l;
      if (s > 3.5)
        break;
    }
    out[i] = s;
  }
#pragma endscop
#pragma scop
  for (int i = 0; i < n; i++) {
    int low = 0, high = m, running = 3;
    while (low < high) {
      int middle = (low + high) / 2;
      if (key[middle] < x[i])
        low = middle + 1;
      else
        high = middle;
    }
    do
      running *= 3;
    while (running % 7 != 4);
    at[i] = low + running;
  }
#pragma endscop
}

// A body that changes what its loop counts: the variable is data.
int skips(int n, int m, const int *restrict x, int *restrict y)
{
  int j = 0;
#pragma scop
  for (int i = 0; i < n; i++) {
    for (j = 0; j < m; j++) {
      if (x[j] == i)
        break;
      if (x[j] > 5)
        j++;
    }
    y[i] = j;
  }
#pragma endscop
  return j;
}
