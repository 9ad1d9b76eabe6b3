/* First values that lose bits in the type of the counter, and ends that it does not reach. */
#include <stdio.h>

static void counters(int n, int m, int x[restrict 70000])
{
#pragma scop
  for (unsigned char i = n; i < 200; i++)
    x[i] += 1;
#pragma endscop
#pragma scop
  for (short i = n; i > 2; i--)
    x[i] += 2;
#pragma endscop
#pragma scop
  for (unsigned short i = 0; i < m; i++)
    x[i] += i;
#pragma endscop
}

int main(void)
{
  static int x[70000];
  counters(3, 10, x);
  counters(300, 65535, x);
  counters(65536 + 7, 5, x);
  counters(0, 0, x);
  long s = 0;
  for (int i = 0; i < 70000; i++)
    s = (s * 31 + x[i]) % 1000003;
  printf("%ld\n", s);
  return 0;
}
