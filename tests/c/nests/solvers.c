/* Solvers in the style of the NAS and SPEC codes: globals with fixed extents, planes behind pointers,
   rows of the stack that are filled in each step. */
#include "driver.h"

enum { M = 24 };
static double u[M][M][M], rsd[M][M][M][5], flux[M][5], a[M][M], lower[M][M], v1[M], v2[M];
static double forcing[5][M][M][M];

/* Values for the arrays of this file come from the blocks, and go back to them. */
static void in(void)
{
  memcpy(u, D(0), sizeof u);
  memcpy(a, D(1), sizeof a);
  memcpy(lower, D(2), sizeof lower);
  memcpy(v1, D(3), sizeof v1);
  for (int i = 0; i < M * M * M; i++)
    for (int m = 0; m < 2; m++)
      (&rsd[0][0][0][0])[5 * i + m] = D(4)[i];
}

static void out(void)
{
  memcpy(D(0), u, sizeof u);
  memcpy(D(1), a, sizeof a);
  memcpy(D(2), lower, sizeof lower);
  memcpy(D(3), v1, sizeof v1);
  memcpy(D(4), rsd, sizeof u);
  memcpy(D(5), forcing, sizeof u);
}

#define GLOBAL(name, size) RUN(name, size, if (n > M) n = M; in(); name(n); out())

static void resid(double ***uu, double ***v, double ***r, int n1, int n2, int n3, const double *c)
{
  double u1[514], u2[514];
#pragma scop
  int i3, i2, i1;
  for (i3 = 1; i3 < n3 - 1; i3++) {
    for (i2 = 1; i2 < n2 - 1; i2++) {
      for (i1 = 0; i1 < n1; i1++) {
        u1[i1] = uu[i3][i2 - 1][i1] + uu[i3][i2 + 1][i1] + uu[i3 - 1][i2][i1] + uu[i3 + 1][i2][i1];
        u2[i1] = uu[i3 - 1][i2 - 1][i1] + uu[i3 - 1][i2 + 1][i1] + uu[i3 + 1][i2 - 1][i1] + uu[i3 + 1][i2 + 1][i1];
      }
      for (i1 = 1; i1 < n1 - 1; i1++) {
        r[i3][i2][i1] = v[i3][i2][i1] - c[0] * uu[i3][i2][i1] - c[2] * (u2[i1] + u1[i1 - 1] + u1[i1 + 1]) -
                        c[3] * (u2[i1 - 1] + u2[i1 + 1]);
      }
    }
  }
#pragma endscop
}
RUN(resid, 48, resid(PLANES(0), PLANES(1), PLANES(2), n, n, n, D(3)))

static void psinv(double ***r, double ***uu, int n1, int n2, int n3, double c0, double c1, double c2)
{
#pragma scop
  for (int i3 = 1; i3 < n3 - 1; i3++) {
    for (int i2 = 1; i2 < n2 - 1; i2++) {
      double r1[514], r2[514];
      for (int i1 = 0; i1 < n1; i1++) {
        r1[i1] = r[i3][i2 - 1][i1] + r[i3][i2 + 1][i1] + r[i3 - 1][i2][i1] + r[i3 + 1][i2][i1];
        r2[i1] = r[i3 - 1][i2 - 1][i1] + r[i3 - 1][i2 + 1][i1] + r[i3 + 1][i2 - 1][i1] + r[i3 + 1][i2 + 1][i1];
      }
      for (int i1 = 1; i1 < n1 - 1; i1++) {
        uu[i3][i2][i1] = uu[i3][i2][i1] + c0 * r[i3][i2][i1] + c1 * (r[i3][i2][i1 - 1] + r[i3][i2][i1 + 1] + r1[i1]) +
                         c2 * (r2[i1] + r1[i1 - 1] + r1[i1 + 1]);
      }
    }
  }
#pragma endscop
}
RUN(psinv, 48, psinv(PLANES(0), PLANES(1), n, n, n, -0.375, 0.03125, -0.015625))

static void comm3(double ***uu, int n1, int n2, int n3)
{
#pragma scop
  int i1, i2, i3;
  for (i3 = 1; i3 < n3 - 1; i3++)
    for (i2 = 1; i2 < n2 - 1; i2++) {
      uu[i3][i2][n1 - 1] = uu[i3][i2][1];
      uu[i3][i2][0] = uu[i3][i2][n1 - 2];
    }
  for (i3 = 1; i3 < n3 - 1; i3++)
    for (i1 = 0; i1 < n1; i1++) {
      uu[i3][n2 - 1][i1] = uu[i3][1][i1];
      uu[i3][0][i1] = uu[i3][n2 - 2][i1];
    }
#pragma endscop
}
RUN(comm3, 60, if (n > 2) comm3(PLANES(0), n, n, n))

static void zero3(double ***z, int n1, int n2, int n3)
{
#pragma scop
  for (int i3 = 0; i3 < n3; i3++)
    for (int i2 = 0; i2 < n2; i2++)
      for (int i1 = 0; i1 < n1; i1++)
        z[i3][i2][i1] = 0.0;
#pragma endscop
}
RUN(zero3, 60, zero3(PLANES(0), n, n, n))

static double norm2u3(double ***r, int n1, int n2, int n3, double *rnmu)
{
  double s = 0.0, rnm = 0.0;
#pragma scop
  for (int i3 = 1; i3 < n3 - 1; i3++) {
    for (int i2 = 1; i2 < n2 - 1; i2++) {
      for (int i1 = 1; i1 < n1 - 1; i1++) {
        s = s + r[i3][i2][i1] * r[i3][i2][i1];
        double t = fabs(r[i3][i2][i1]);
        if (t > rnm) rnm = t;
      }
    }
  }
#pragma endscop
  *rnmu = rnm;
  return sqrt(s);
}
RUN(norm2u3, 60, D(1)[0] = norm2u3(PLANES(0), n, n, n, D(2)))

static void jacobi2d(double **x, double **y, int n)
{
#pragma scop
  for (int i = 1; i < n - 1; i++)
    for (int j = 1; j < n - 1; j++)
      y[i][j] = 0.25 * (x[i - 1][j] + x[i + 1][j] + x[i][j - 1] + x[i][j + 1]);
#pragma endscop
}
RUN(jacobi2d, 400, jacobi2d(ROWS(0), ROWS(1), n))

static void sor(double **x, double *b, int n, double omega)
{
#pragma scop
  for (int i = 1; i < n - 1; i++)
    for (int j = 1; j < n - 1; j++)
      x[i][j] = omega * 0.25 * (x[i - 1][j] + x[i + 1][j] + x[i][j - 1] + x[i][j + 1]) + (1.0 - omega) * x[i][j] + b[i];
#pragma endscop
}
RUN(sor, 400, sor(ROWS(0), D(1), n, 1.25))

static void redblack(double **x, int n, int colour)
{
#pragma scop
  for (int i = 1; i < n - 1; i++)
    for (int j = 1 + (i + colour) % 2; j < n - 1; j += 2)
      x[i][j] = 0.25 * (x[i - 1][j] + x[i + 1][j] + x[i][j - 1] + x[i][j + 1]);
#pragma endscop
}
RUN(redblack, 400, redblack(ROWS(0), n, 0); redblack(ROWS(0), n, 1))

static void lufact(double **m, int n)
{
#pragma scop
  for (int k = 0; k < n; k++) {
    for (int i = k + 1; i < n; i++) {
      m[i][k] /= m[k][k];
      for (int j = k + 1; j < n; j++)
        m[i][j] -= m[i][k] * m[k][j];
    }
  }
#pragma endscop
}
RUN(lufact, 150, lufact(ROWS(0), n))

static void matmult(double **x, double **y, double **z, int n)
{
#pragma scop
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) {
      z[i][j] = 0;
      for (int k = 0; k < n; k++)
        z[i][j] += x[i][k] * y[k][j];
    }
#pragma endscop
}
RUN(matmult, 200, matmult(ROWS(0), ROWS(1), ROWS(2), n))

static void back_substitution(double **m, double *b, double *x, int n)
{
#pragma scop
  for (int i = n - 1; i >= 0; i--) {
    double s = b[i];
    for (int j = i + 1; j < n; j++)
      s -= m[i][j] * x[j];
    x[i] = s / m[i][i];
  }
#pragma endscop
}
RUN(back_substitution, 400, back_substitution(ROWS(0), D(1), D(2), n))

static void compute_rhs(int n)
{
#pragma scop
  for (int k = 1; k < n - 1; k++) {
    for (int j = 1; j < n - 1; j++) {
      for (int i = 0; i < n; i++) {
        flux[i][0] = rsd[k][j][i][1];
        double u21 = rsd[k][j][i][1] * u[k][j][i];
        for (int m = 1; m < 5; m++)
          flux[i][m] = rsd[k][j][i][m] * u21;
      }
      for (int i = 1; i < n - 1; i++)
        for (int m = 0; m < 5; m++)
          forcing[m][k][j][i] = forcing[m][k][j][i] - 0.5 * (flux[i + 1][m] - flux[i - 1][m]);
    }
  }
#pragma endscop
}
GLOBAL(compute_rhs, M)

static void add(int n)
{
#pragma scop
  int i, j, k, m;
  for (k = 1; k < n - 1; k++)
    for (j = 1; j < n - 1; j++)
      for (i = 1; i < n - 1; i++)
        for (m = 0; m < 5; m++)
          rsd[k][j][i][m] = rsd[k][j][i][m] + forcing[m][k][j][i];
#pragma endscop
}
GLOBAL(add, M)

static void initialize(int n)
{
#pragma scop
  for (int k = 0; k < n; k++) {
    double zeta = (double)k * 0.125;
    for (int j = 0; j < n; j++) {
      double eta = (double)j * 0.25;
      for (int i = 0; i < n; i++) {
        double xi = (double)i * 0.5;
        u[k][j][i] = zeta * zeta + eta * xi + 1.0;
      }
    }
  }
#pragma endscop
}
GLOBAL(initialize, M)

static void x_solve(int n)
{
#pragma scop
  for (int k = 0; k < n; k++)
    for (int j = 0; j < n; j++)
      for (int i = 1; i < n; i++) {
        double fac1 = 1.0 / (u[k][j][i - 1] + 4.0);
        rsd[k][j][i][0] = fac1 * (rsd[k][j][i][0] - rsd[k][j][i - 1][0]);
        rsd[k][j][i][1] = fac1 * (rsd[k][j][i][1] - rsd[k][j][i - 1][1]);
      }
#pragma endscop
}
GLOBAL(x_solve, M)

static void y_solve(int n)
{
#pragma scop
  for (int k = 0; k < n; k++)
    for (int j = 1; j < n; j++)
      for (int i = 0; i < n; i++) {
        double fac1 = 1.0 / (u[k][j - 1][i] + 4.0);
        for (int m = 0; m < 2; m++)
          rsd[k][j][i][m] = fac1 * (rsd[k][j][i][m] - rsd[k][j - 1][i][m]);
      }
#pragma endscop
}
GLOBAL(y_solve, M)

static void blts(int n)
{
#pragma scop
  for (int k = 1; k < n; k++)
    for (int j = 1; j < n; j++)
      for (int i = 1; i < n; i++)
        u[k][j][i] = u[k][j][i] - 0.2 * (u[k - 1][j][i] + u[k][j - 1][i] + u[k][j][i - 1]);
#pragma endscop
}
GLOBAL(blts, M)

static void cholesky(int n)
{
#pragma scop
  for (int i = 0; i < n; i++) {
    for (int j = 0; j < i; j++) {
      double s = a[i][j];
      for (int k = 0; k < j; k++)
        s -= lower[i][k] * lower[j][k];
      lower[i][j] = s / (lower[j][j] + 2.0);
    }
    double d = a[i][i] + 50.0;
    for (int k = 0; k < i; k++)
      d -= lower[i][k] * lower[i][k];
    lower[i][i] = sqrt(fabs(d));
  }
#pragma endscop
}
GLOBAL(cholesky, M)

static void gram_schmidt(int n)
{
#pragma scop
  for (int k = 0; k < n; k++) {
    double nrm = 0.0;
    for (int i = 0; i < n; i++)
      nrm += a[i][k] * a[i][k];
    lower[k][k] = sqrt(nrm);
    for (int i = 0; i < n; i++)
      a[i][k] = a[i][k] / lower[k][k];
    for (int j = k + 1; j < n; j++) {
      lower[k][j] = 0.0;
      for (int i = 0; i < n; i++)
        lower[k][j] += a[i][k] * a[i][j];
      for (int i = 0; i < n; i++)
        a[i][j] = a[i][j] - a[i][k] * lower[k][j];
    }
  }
#pragma endscop
}
GLOBAL(gram_schmidt, M)

static void power_step(int n)
{
  double max = 0.0;
#pragma scop
  for (int i = 0; i < n; i++) {
    v2[i] = 0.0;
    for (int j = 0; j < n; j++)
      v2[i] += a[i][j] * v1[j];
    if (fabs(v2[i]) > max)
      max = fabs(v2[i]);
  }
  for (int i = 0; i < n; i++)
    v1[i] = v2[i] / (max + 1.0);
#pragma endscop
}
GLOBAL(power_step, M)

static void tridiagonal(double *l, double *d, double *up, double *b, int n)
{
#pragma scop
  for (int i = 1; i < n; i++) {
    double w = l[i] / d[i - 1];
    d[i] -= w * up[i - 1];
    b[i] -= w * b[i - 1];
  }
  b[n - 1] = b[n - 1] / d[n - 1];
  for (int i = n - 2; i >= 0; i--)
    b[i] = (b[i] - up[i] * b[i + 1]) / d[i];
#pragma endscop
}
RUN(tridiagonal, 4000, if (n > 0) tridiagonal(D(0), D(1), D(2), D(3), n))

static void advect(double **q, double **un, double *vx, double dt, int n)
{
#pragma scop
  for (int i = 1; i < n; i++)
    for (int j = 1; j < n; j++) {
      if (vx[j] > 0.8)
        un[i][j] = q[i][j] - dt * vx[j] * (q[i][j] - q[i][j - 1]);
      else
        un[i][j] = q[i][j] - dt * vx[j] * (q[i][j] - q[i - 1][j]);
    }
#pragma endscop
}
RUN(advect, 300, advect(ROWS(0), ROWS(1), D(2), 0.01, n))

static void fdtd(double *ex, double *ey, double *hz, int n)
{
#pragma scop
  for (int i = 1; i < n; i++)
    for (int j = 0; j < n; j++)
      ey[i * n + j] = ey[i * n + j] - 0.5 * (hz[i * n + j] - hz[(i - 1) * n + j]);
  for (int i = 0; i < n; i++)
    for (int j = 1; j < n; j++)
      ex[i * n + j] = ex[i * n + j] - 0.5 * (hz[i * n + j] - hz[i * n + j - 1]);
  for (int i = 0; i < n - 1; i++)
    for (int j = 0; j < n - 1; j++)
      hz[i * n + j] = hz[i * n + j] - 0.7 * (ex[i * n + j + 1] - ex[i * n + j] + ey[(i + 1) * n + j] - ey[i * n + j]);
#pragma endscop
}
RUN(fdtd, 300, fdtd(D(0), D(1), D(2), n))

static void heat3d(double *x, double *y, int n, int steps)
{
#define AT(i, j, k) (((i) * n + (j)) * n + (k))
#pragma scop
  for (int t = 0; t < steps; t++) {
    for (int i = 1; i < n - 1; i++)
      for (int j = 1; j < n - 1; j++)
        for (int k = 1; k < n - 1; k++)
          y[AT(i, j, k)] = x[AT(i, j, k)] + 0.125 * (x[AT(i + 1, j, k)] - 2.0 * x[AT(i, j, k)] + x[AT(i - 1, j, k)]);
    for (int i = 1; i < n - 1; i++)
      for (int j = 1; j < n - 1; j++)
        for (int k = 1; k < n - 1; k++)
          x[AT(i, j, k)] = y[AT(i, j, k)];
  }
#pragma endscop
}
RUN(heat3d, 40, heat3d(D(0), D(1), n, 4))

static void rprj3(double ***r, double ***s, int m1, int m2, int m3)
{
#pragma scop
  for (int j3 = 1; j3 < m3; j3++) {
    int i3 = 2 * j3 - 1;
    for (int j2 = 1; j2 < m2; j2++) {
      int i2 = 2 * j2 - 1;
      for (int j1 = 1; j1 < m1; j1++) {
        int i1 = 2 * j1 - 1;
        s[j3][j2][j1] = 0.5 * r[i3][i2][i1] + 0.25 * (r[i3][i2][i1 - 1] + r[i3][i2][i1 + 1]) + 0.125 * (r[i3][i2 - 1][i1] + r[i3][i2 + 1][i1]);
      }
    }
  }
#pragma endscop
}
RUN(rprj3, 60, rprj3(PLANES(0), PLANES(1), n / 2, n / 2, n / 2))
