// What may overlap: pointers without restrict, and objects of the file.
double total, table[10];
float other[10];
int count;
void aliases(int n, double *p, const double *q, double *restrict r, float *f, int *k, double s)
{
#pragma scop
  for (int i = 0; i < count; i++) {
    p[i] = q[i] + r[i] + f[i] + k[i] + s;
    k[i] = 0;
    total += table[i] + other[i];
  }
#pragma endscop
}
