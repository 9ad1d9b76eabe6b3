/* A pointer that the region moves is asked for what it is, not for what it was. */
void moved(int n, float y[restrict n], const float *restrict x)
{
#pragma scop
  for (int i = 0; i < n; i++) {
    if (x)
      y[i] = x[0];
    x++;
  }
#pragma endscop
}
