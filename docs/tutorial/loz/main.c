/* Calls the generated function. */
#include <stdio.h>

#include "distance.h"

int main(void) {
  double p[3] = {1, 2, 3}, q[3] = {1, 5, 7}, d;
  if (distance(3, p, q, &d) != 0)
    return 1;
  printf("the distance is %g\n", d);
  return 0;
}
