/* Jumps that are no guards: into the next case, back, out of a loop, past a declaration. */
void f(int n, const int *restrict kind, double *restrict y)
{
#pragma scop
  for (int i = 0; i < n; i++) {
    switch (kind[i]) {
    case 0:
      y[i] = 1.0;
    case 1:
      y[i] += 2.0;
    }
  }
#pragma endscop
#pragma scop
  for (int i = 0; i < n; i++) {
  again:
    y[i] += 2.0;
    if (i > 100)
      goto again;
  }
#pragma endscop
#pragma scop
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      if (kind[j] == i)
        goto out;
out:
  y[0] = 3.0;
#pragma endscop
#pragma scop
  for (int i = 0; i < n; i++) {
    if (kind[i] > 0)
      goto last;
    double t = 2.0;
    y[i] = t;
  last:
    y[i] += 1.0;
  }
#pragma endscop
}
