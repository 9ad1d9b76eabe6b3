/* Objects of which each thread has its own. */
static _Thread_local double buf[300];
static __thread int count;
static double marked[300], shared[300], both[300];
#pragma omp threadprivate(marked, \
    both)
extern double later[300];
#pragma omp threadprivate ( later )
double later[300];
void words(int n, double *restrict a)
{
#pragma scop
  for (int i = 0; i < n; i++)
    buf[i] = a[i];
  for (int i = 0; i < count; i++)
    a[i] = buf[i];
#pragma endscop
}
void pragmas(int n, double *restrict a)
{
  static double own[300];
#pragma omp threadprivate(own)
  extern double marked[300];
#pragma scop
  for (int i = 0; i < n; i++)
    a[i] = marked[i] + both[i] + later[i] + shared[i] + own[i];
#pragma endscop
}
void hidden(int n, double *restrict a)
{
  double buf[300];
#pragma scop
  for (int i = 0; i < n; i++)
    a[i] = buf[i] = 0;
#pragma endscop
}
void extents(int n, double (*restrict a)[count])
{
#pragma scop
  for (int i = 0; i < n; i++)
    a[i][0] = 0;
#pragma endscop
}
