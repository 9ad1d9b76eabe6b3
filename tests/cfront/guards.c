/* switch and goto as guards, commas in values, counters that are declared with a value. */
double ldexp(double, int);

void kinds(int n, const int *restrict kind, const double *restrict x, double *restrict y)
{
#pragma scop
  for (int i = 0; i < n; i++) {
    switch (kind[i] & 3) {
    case 0:
      y[i] = x[i];
      break;
    case 1:
    case 2: {
      y[i] = -x[i];
      break;
    }
    default:
      if (x[i] > 1.0)
        break;
      y[i] = ldexp(x[i], 2);
    }
  }
#pragma endscop
}

void modes(int n, int mode, double *restrict y)
{
#pragma scop
  switch (mode) {
  case 1:
    for (int i = 0; i < n; i++)
      y[i] = 1.0;
    break;
  case 2:
    for (int i = 0; i < n; i++)
      y[i] = 2.0;
  }
#pragma endscop
}

void passed(int n, const double *restrict x, double *restrict y)
{
#pragma scop
  for (int i = 0; i < n; i++) {
    double t = x[i];
    if (i < 3)
      goto next;
    y[i] = t;
  next:;
  }
  for (int i = 0; i < n; i++) {
    if (i > 7)
      goto second;
    y[i] += 1.0;
    goto last;
  second:
    y[i] -= 1.0;
  last:;
  }
#pragma endscop
}

void counted(int n, double *restrict x, const double *restrict a)
{
#pragma scop
  double t;
  int i = 0, o = 1;
  while (i < n) {
    x[o] = (t = a[i] * 0.5, t * t);
    o++;
    i++;
  }
#pragma endscop
}
