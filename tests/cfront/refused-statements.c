void f(int n, double *restrict x)
{
  int i = 0;
#pragma scop
  while (i < n) { x[i] = 0; i++; }
  do { x[i] = 1; } while (0);
  for (int j = 0; j < n; j++) {
    if (j == 3) break;
    if (j == 2) continue;
    switch (j) { case 1: x[j] = 2; default: x[j] = 3; }
    goto out;
  }
out:
  x[0];
  n > 3;
  asm volatile("nop" : : : "memory");
  return;
#pragma endscop
}
