/* Pointers that have just got memory of their own, several in one declaration. */
void *malloc(unsigned long);
void use(double *);
void one_declaration(int n)
{
  double *y = malloc(8 * n), *x = malloc(8 * n);
  use(x);
#pragma scop
  for (int i = 0; i < n; i++)
    y[i] += x[i];
#pragma endscop
}
void set_again(int n)
{
  double *y = malloc(8 * n), *x = malloc(8 * n);
  x = y;
#pragma scop
  for (int i = 0; i < n; i++)
    y[i] += x[i];
#pragma endscop
}
