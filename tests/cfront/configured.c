// The preprocessor inside a region.
#define STEP(i) x[i] = FACTOR * x[i]
#define FACTOR 3
void f(int n, double x[restrict n])
{
#pragma scop
#ifdef OTHER
  for (int i = 0; i < n; i += 2)
#else
  for (int i = 0; i < n; i++)
#endif
    STEP(i);
#pragma endscop
}
