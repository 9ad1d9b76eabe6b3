/* A histogram: where it writes depends on data. */
void kernel_histogram(int n, int bins, const int value[restrict n], int count[restrict bins])
{
#pragma scop
  for (int i = 0; i < n; i++)
    count[value[i]] += 1;
#pragma endscop
}
