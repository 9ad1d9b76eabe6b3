/* Constants of `long double` that are converted at once: the double next to them is clear. */
void limits(int n, double x[restrict n])
{
#pragma scop
  for (int i = 0; i < n; i++) {
    x[i] = ((double)1.79769313486231570814527423731704357e+308L);
    x[i] += (double)2.2250738585072014e-308l;
    x[i] -= (double)(0.1L);
    x[i] *= (double)0.00000000000000022204460492503130808472633361816L;
  }
#pragma endscop
}
