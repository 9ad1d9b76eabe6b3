/* A program that says nothing of what it computed. */
static void twice(int n, double *restrict a)
{
#pragma scop
  for (int i = 0; i < n; i++)
    a[i] = 2 * a[i];
#pragma endscop
}

int main(void)
{
  double a[3] = {1, 2, 3};
  twice(3, a);
  return 0;
}
