#include <math.h>
void floats(int n, double x[restrict n], double y[restrict n], float z[restrict n]) {
#pragma scop
  for (int i = 0; i < n; i++) {
    y[i] = fmod(x[i], 0.3);
    z[i] = fmodf(z[i], 0.25f) + fminf(z[i], 0.1f) + fabsf(z[i]) + powf(z[i], 2.0f);
  }
#pragma endscop
}
