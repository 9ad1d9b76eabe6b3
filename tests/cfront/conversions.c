// The types of literals, the usual arithmetic conversions, casts and truth values.
#include <stdbool.h>
#include <stdint.h>
typedef float real;
void conversions(int n, real f[restrict n], double d[restrict n], int i32[restrict n], int64_t i64[restrict n],
                 bool b[restrict n], real s, long big, short tiny, unsigned char byte)
{
#pragma scop
  for (int i = 0; i < n; i++) {
    f[i] = 0.1;
    f[i] = 0.1f * f[i];
    f[i] = 0.1 * f[i];
    f[i] += d[i];
    f[i] += f[i];
    f[i] -= 1;
    f[i] /= 3;
    d[i] = f[i] * s;
    d[i] = f[i] * d[i];
    d[i] = i;
    d[i] = i * i;
    d[i] = i / 2 + 1 / 2 + 1.0 / 2;
    d[i] = (float)d[i];
    d[i] = (int)d[i];
    d[i] -= d[i] * 0x1p-3;
    d[i] = -d[i] + +s;
    d[i] = big + tiny + byte;
    i32[i] = i64[i] + i32[i];
    i32[i] = i32[i] * i32[i] % 7;
    i32[i] += i64[i];
    i32[i]++;
    --i64[i];
    i64[i] = i32[i] * i32[i];
    i64[i] = (long)i32[i] * i32[i];
    i64[i] = 3000000000 + i;
    b[i] = i32[i];
    b[i] = d[i] > 0 && !b[i];
    i32[i] = (d[i] < 1) + b[i] + (i == 3);
    i32[i] = b[i] ? i32[i] : 'a';
    d[i] = i32[i] > i64[i] ? i32[i] : i64[i];
    d[i] = d[i] > 1 ? d[i] : 1;
    f[i] = i % 2 ? f[i] : s;
  }
#pragma endscop
}
