/* Runs the compiled model on two rows: reads its parameters, calls it, prints the result. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int classify(const int64_t *parameters, const float *x, float *y);

int main(void) {
  static int64_t parameters[1 << 10] __attribute__((aligned(64)));
  FILE *file = fopen("classify.parameters", "rb");
  if (file == NULL || fread(parameters, 1, sizeof parameters, file) == 0)
    return 1;
  fclose(file);
  float x[2][4] = {{1, 2, 3, 4}, {-1, 0, 1, 0}}, y[2][3];
  if (classify(parameters, x[0], y[0]) != 0)
    return 2;
  for (int i = 0; i < 2; i++)
    printf("%.6f %.6f %.6f\n", y[i][0], y[i][1], y[i][2]);
  return 0;
}
