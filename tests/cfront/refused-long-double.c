/* In the middle between two doubles, the extended format decides; elsewhere it is computed in it. */
void limits(int n, double x[restrict n])
{
#pragma scop
  for (int i = 0; i < n; i++) {
    x[i] = (double)1.00000000000000011102230246251565404L;
    x[i] -= (double)0.999999999999999944488848768742172978818416595458984375L;
    x[i] += 0.1L;
  }
#pragma endscop
}
