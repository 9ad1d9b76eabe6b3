#include <stdint.h>

void dot(int n, float xs[n], float ys[n], float *out) {
    float v0[n];
    #pragma omp parallel for
    for (int i1 = 0; i1 < n; i1 += 1) {
        v0[i1]=(xs[i1]*ys[i1]);
    }
    float v2;
    v2=0;
    for (int i3 = 0; i3 < n; i3 += 1) {
        v2=(v0[i3]+v2);
    }
    *out=v2;
}

void dot_split(int n, int m, float A[n*m], float B[n*m], float *out) {
    float v0[n];
    #pragma omp parallel for
    for (int i1 = 0; i1 < n; i1 += 1) {
        float v2;
        v2=0;
        for (int i3 = 0; i3 < m; i3 += 1) {
            v2=((A[i1*m+i3]*B[i1*m+i3])+v2);
        }
        v0[i1]=v2;
    }
    float v4;
    v4=0;
    for (int i5 = 0; i5 < n; i5 += 1) {
        v4=(v0[i5]+v4);
    }
    *out=v4;
}

void block_product(
        int m1,
        int p1,
        int n1,
        int m,
        int p,
        int n,
        int xs[m1][n1][m][n],
        int ys[p1][n1][p][n],
        int mzero[m][p],
        int out[m1][p1][m][p]) {
    #pragma omp parallel for
    for (int i0 = 0; i0 < m1; i0 += 1) {
        #pragma omp parallel for
        for (int i1 = 0; i1 < p1; i1 += 1) {
            int v2[n1][m][p];
            #pragma omp parallel for
            for (int i3 = 0; i3 < n1; i3 += 1) {
                #pragma omp parallel for
                for (int i4 = 0; i4 < m; i4 += 1) {
                    #pragma omp parallel for
                    for (int i5 = 0; i5 < p; i5 += 1) {
                        int v6[n];
                        for (int i7 = 0; i7 < n; i7 += 1) {
                            v6[i7]=(xs[i0][i3][i4][i7]*ys[i1][i3][i5][i7]);
                        }
                        int v8;
                        v8=0;
                        for (int i9 = 0; i9 < n; i9 += 1) {
                            v8=(v6[i9]+v8);
                        }
                        v2[i3][i4][i5]=v8;
                    }
                }
            }
            int v10[m][p];
            for (int i11 = 0; i11 < m; i11 += 1) {
                for (int i12 = 0; i12 < p; i12 += 1) {
                    v10[i11][i12]=mzero[i11][i12];
                }
            }
            for (int i11 = 0; i11 < n1; i11 += 1) {
                #pragma omp parallel for
                for (int i12 = 0; i12 < m; i12 += 1) {
                    for (int i13 = 0; i13 < p; i13 += 1) {
                        v10[i12][i13]=(v2[i11][i12][i13]+v10[i12][i13]);
                    }
                }
            }
            #pragma omp parallel for
            for (int i14 = 0; i14 < m; i14 += 1) {
                for (int i15 = 0; i15 < p; i15 += 1) {
                    out[i0][i1][i14][i15]=v10[i14][i15];
                }
            }
        }
    }
}
