/* A transform by powers of two: the loop counts by a factor. */
void kernel_fft(int n, double x[restrict n])
{
#pragma scop
  for (int half = 1; half < n; half *= 2)
    for (int i = 0; i < n - half; i++)
      x[i] = x[i] + x[i + half];
#pragma endscop
}
