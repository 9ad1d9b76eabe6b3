/* Arguments that may be left out. */
void biased(int n, float y[restrict n], const float *restrict bias, const float *restrict scale)
{
#pragma scop
  for (int i = 0; i < n; i++) {
    y[i] += bias ? bias[i] : 0.0f;
    if (scale != (void *)0)
      y[i] *= scale[i];
    if (!bias && 0 == scale)
      y[i] = 1.0f;
  }
#pragma endscop
}
