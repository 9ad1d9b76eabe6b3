// error C0303
void brighter(int n, const unsigned char in[restrict n], unsigned char out[restrict n])
{
#pragma scop
  for (int i = 0; i < n; i++)
    out[i] = in[i] + 16;
#pragma endscop
}
