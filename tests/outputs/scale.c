/* A program with a region, for `lozenge bench --outputs`. */
#include <stdio.h>

#define N 1000

static double a[N];

int main(int argc, char **argv)
{
#pragma scop
  for (int i = 0; i < N; i++)
    a[i] = 2.0 * i + 1.0;
#pragma endscop
  FILE *file = fopen(argc > 1 ? argv[1] : "/dev/null", "wb");
  if (file == NULL)
    return 2;
  fprintf(file, "a double %d\n", N);
  fwrite(a, sizeof *a, N, file);
  fclose(file);
  printf("seconds 0.001\n");
  return 0;
}
