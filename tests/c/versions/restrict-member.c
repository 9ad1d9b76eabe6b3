/* Pointers that are declared `restrict` in structures are one where the structures are. */
#include <stdio.h>
#include <stdlib.h>

struct S {
  double *restrict d;
  int n;
};

static void shift(struct S *s, struct S *t)
{
#pragma scop
  for (int i = 1; i < s->n; i++)
    s->d[i] = t->d[i - 1] + 1;
#pragma endscop
}

int main(void)
{
  int n = 100000;
  struct S s = {calloc(n, 8), n}, t = {calloc(n, 8), n};
  shift(&s, &s);
  shift(&t, &s);
  printf("%g %g %g %g\n", s.d[n - 1], s.d[n / 2], t.d[n - 1], t.d[1]);
  free(s.d);
  free(t.d);
  return 0;
}
