/* An enumeration without negative values has no sign as data; its constants are of type int. */
enum colour { RED, GREEN = 5 };
typedef enum { BELOW = -1, ABOVE } side;
enum small : short { S0 };
void enums(int n, enum colour *restrict c, side *restrict s, enum small *restrict t, double *restrict a,
           enum colour size)
{
#pragma scop
  for (int i = 0; i < n; i++)
    a[i] = (c[i] - 7) * 1.0 + (s[i] - 7) + (t[i] - 7) + (GREEN - 7);
  for (enum colour k = RED; k < GREEN; k++)
    a[k] = 1;
  for (int i = 0; i < size; i++)
    a[i] += 1;
#pragma endscop
}
