/* A search: how long it runs depends on data. */
int kernel_search(int n, const double x[restrict n], double wanted)
{
  int found = -1;
#pragma scop
  for (int i = 0; i < n; i++) {
    if (x[i] == wanted) {
      found = i;
      break;
    }
  }
#pragma endscop
  return found;
}
