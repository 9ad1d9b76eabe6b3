/* A list that grows while it is worked on: the loop changes its own bound. */
void kernel_worklist(int n, int end[restrict 1], const int more[restrict n], int seen[restrict n])
{
#pragma scop
  for (int i = 0; i < end[0]; i++) {
    seen[i] = 1;
    end[0] += more[i];
  }
#pragma endscop
}
