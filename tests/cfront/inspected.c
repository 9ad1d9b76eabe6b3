/* How far subscripts go that are data is found by reading them, where the region reads them anyway. */
void product(int n, double *y, const double *val, const double *x, const int *row, const int *col)
{
#pragma scop
  for (int i = 0; i < n; i++)
    for (int k = row[i]; k < row[i + 1]; k++)
      y[i] += val[k] * x[col[k] - 1];
#pragma endscop
}

/* A subscript that is read under a condition, one that is written, and rows that skip some. */
void chosen(int n, double *y, const double *x, const int *index, const double *when)
{
#pragma scop
  for (int i = 0; i < n; i++)
    y[i] = when[i] > 0 ? x[index[i]] : 0.0;
#pragma endscop
}

void written(int n, int *y, const int *x, int *index)
{
#pragma scop
  for (int i = 0; i < n; i++) {
    y[i] = x[index[i]];
    index[i] += 1;
  }
#pragma endscop
}

void skipped(int n, double *y, const double *val, const int *row)
{
#pragma scop
  for (int i = 0; i < n; i++)
    for (int k = row[i]; k < row[i + 2]; k++)
      y[i] += val[k];
#pragma endscop
}

/* Two loops over one variable: only in the first one does it go along rows. */
void again(int n, double *y, const double *val, const int *row)
{
  int k;
#pragma scop
  for (int i = 0; i < n; i++)
    for (k = row[i]; k < row[i + 1]; k++)
      y[i] += val[k];
  for (k = 0; k < n; k++)
    y[k] *= val[k + 5];
#pragma endscop
}

/* Read where a loop that data bounds runs, or where the left side holds: not in any case. */
void inside(int n, double *y, const double *x, const int *row, const int *index)
{
#pragma scop
  for (int i = 0; i < n; i++)
    for (int k = row[i]; k < row[i + 1]; k++)
      y[i] += x[index[i]];
#pragma endscop
}

void decided(int n, double *y, const double *x, const int *index)
{
#pragma scop
  for (int i = 0; i < n; i++)
    if (y[i] > 0 && x[index[i]] > 0)
      y[i] = 1;
#pragma endscop
}
