#ifndef KERNELS_H
#define KERNELS_H

#include "number.h"

void product(number c[restrict SIZE][SIZE], number a[restrict SIZE][SIZE], number b[restrict SIZE][SIZE]);
void smooth(int n, number *to, const number *from);

#endif
