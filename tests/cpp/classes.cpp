// Functions of classes: what they use of the class is copied to local variables before the region.
#include <cstdio>
#include <vector>

static double scale[8] = {1, 2, 3, 4, 5, 6, 7, 8};
static double weights[8] = {8, 7, 6, 5, 4, 3, 2, 1};

struct Grid {
  int n, m;
  double *cells;
  double scale[8];

  explicit Grid(int n, int m) : n(n), m(m), cells(new double[n * m]) {
    for (int i = 0; i < n * m; i++)
      cells[i] = 0.5 * i;
  }
  ~Grid() { delete[] cells; }
  void sweep(double weight);

  double sum() const {
    double total = 0;
    const double *values = cells;
    const int count = n * m;
#pragma scop
    for (int i = 0; i < count; i++)
      total += values[i] * weights[i % 8];
#pragma endscop
    return total;
  }
};

void Grid::sweep(double weight) {
  double *u = cells;
  const int rows = n, columns = m;
#pragma scop
  for (int i = 1; i < rows; i++)
    for (int j = 0; j < columns; j++)
      u[i * columns + j] += weight * u[(i - 1) * columns + j];
#pragma endscop
}

double plain(int n, double *x) {
#pragma scop
  for (int i = 0; i < n; i++)
    x[i] *= scale[i];
#pragma endscop
  return n > 0 ? x[n - 1] : 0;
}

int main() {
  for (int n : {1, 2, 5, 8}) {
    Grid grid(n, 3);
    grid.sweep(0.125);
    std::vector<double> x(n, 1.5);
    std::printf("%a %a\n", grid.sum(), plain(n, x.data()));
  }
}
