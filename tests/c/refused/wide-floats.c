// error C0303
void halves(int n, const long double in[restrict n], long double out[restrict n])
{
#pragma scop
  for (int i = 0; i < n; i++)
    out[i] = in[i] / 2;
#pragma endscop
}
