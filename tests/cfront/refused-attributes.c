/* Attributes and types that change what a declaration says. */
typedef int di __attribute__((mode(DI)));
typedef double v4 __attribute__((vector_size(32)));
typedef double may __attribute__((__may_alias__));
int __attribute__((__mode__(__HI__))) before[10];
double after[4] __attribute__((vector_size(16))), plain[10];
static v4 va[20];
enum packed { P0, P1 } __attribute__((packed));
enum wide { W0, W1 = 1LL << 40 };
struct bits { int x : 3; };
_Decimal64 decimal[10];
_Float16 half[10];
__int128 huge[10];
void done(double *);
void attributes(int n, di *restrict q, may *restrict m, enum packed *restrict p, enum wide *restrict w,
                struct bits *restrict b, __int128 size)
{
#pragma scop
  for (int i = 0; i < n; i++) {
    q[i] = 1;
    va[i] = va[i];
    m[i] = 1;
    before[i] = 1;
    after[0] = 1;
    plain[i] = (v4)plain[i];
    p[i] = 1;
    w[i] = 1;
    b[i].x = 1;
    decimal[i] = 1;
    half[i] = 1;
    huge[i] = 1;
    plain[i] = size * 2;
    v4 here = plain[i];
    double cleaned __attribute__((cleanup(done))) = 1;
  }
#pragma endscop
}
