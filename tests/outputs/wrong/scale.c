#include <stdio.h>

int main(int argc, char **argv)
{
  static double a[1000];
  for (int i = 0; i < 1000; i++)
    a[i] = 2.0 * i;
  FILE *file = fopen(argc > 1 ? argv[1] : "/dev/null", "wb");
  if (file == NULL)
    return 2;
  fprintf(file, "a double 1000\n");
  fwrite(a, sizeof *a, 1000, file);
  fclose(file);
  printf("seconds 0.0005\n");
  return 0;
}
