#define tiles(n) (((n) + 31) / 32)
for (int c = 0; c < tiles(N); c++)
  for (int i = 32 * c; i < 32 * c + 32 && i < N; i++)
    a[i] = 1.0 + 2.0 * i;
