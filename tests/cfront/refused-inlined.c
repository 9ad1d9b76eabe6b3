/* Functions that do not take the place of their calls. */
static inline double sq(double x) { return x * x; }
double global;
static inline double reads_a_global(double x) { return x + global; }
static inline double has_a_loop(double x) { for (int i = 0; i < 3; i++) x *= x; return x; }
static double without_inline(double x) { return 2 * x; }
static inline double itself(double x) { return x > 1 ? itself(x / 2) : x; }
double use(double x) { return without_inline(x); }

void not_taken(int n, double b[restrict n])
{
#pragma scop
  for (int i = 0; i < n; i++) {
    b[i] = reads_a_global(b[i]);
    b[i] += has_a_loop(1.0);
    b[i] += without_inline(b[i]);
    b[i] += itself(b[i]);
    b[i] += sq(b[i]++);
    b[i] += sq(1, 2);
  }
#pragma endscop
}
static int shadowed;
static inline double has_a_local(double x) { double shadowed; shadowed = x; return shadowed; }
static inline double two_reasons(double x, double global) { x += global; return x; }
void reasons(int n, double b[restrict n])
{
#pragma scop
  for (int i = 0; i < n; i++) {
    b[i] = has_a_local(b[i]);
    b[i] = two_reasons(b[i], 1);
  }
#pragma endscop
}
