void f(int n, double A[restrict n], double B[][n], double C[n][n])
{
  n = n / 2;
#pragma scop
  for (int i = 0; i < n; i++) {
    static double s = 0;
    double *p = A;
    double w[3] = {[1] = 2};
    double v[2] = {1, 2, 3};
    double big[100] = {0};
    double vla[n] = {};
    volatile double q = 1;
    unsigned u = 2;
    int fixed = 3, *r;
    A[i] = *r;
    A[i] = w[0] + v[1] + big[2] + fixed;
    C[i][i] = 1;
  }
#pragma endscop
}
