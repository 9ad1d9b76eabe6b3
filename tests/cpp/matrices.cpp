// Matrices in vectors of the library: loops over pointers to their data, in a namespace, with
// types, functions and constants of C++.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

namespace numbers {

using real = double;
typedef float single;
constexpr int BLOCK = 5;
enum class Layout { Rows, Columns };
static const char *const TITLE = R"(matrices; "in" rows)";

template <typename T> T twice(T value) { return value + value; }

inline double square(double x) { return x * x; }

namespace detail {
constexpr int HALO = 1;
inline float half(float x) { return 0.5f * x; }
} // namespace detail

class Matrix {
public:
  Matrix(int rows, int columns) : rows_{rows}, columns_{columns}, data_(rows * columns) {}
  int rows() const noexcept { return rows_; }
  int columns() const noexcept { return columns_; }
  real *data() { return data_.data(); }
  const real *data() const { return data_.data(); }
  real &operator()(int i, int j) { return data_[i * columns_ + j]; }

private:
  int rows_, columns_;
  std::vector<real> data_;
};

void multiply(const Matrix &a, const Matrix &b, Matrix &c, Layout layout = Layout::Rows) {
  if (layout != Layout::Rows)
    return;
  const int n = a.rows(), m = b.columns();
  int l = static_cast<int>(a.columns());
  const real *A = a.data();
  const real *B = b.data();
  real *C{c.data()};
#pragma scop
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < m; ++j) {
      real sum = 0;
      for (int k = 0; k < l; ++k)
        sum += A[i * l + k] * B[k * m + j];
      C[i * m + j] = sum;
    }
#pragma endscop
}

std::vector<single> norms(std::size_t n, const std::vector<single> &x) {
  std::vector<single> result(n);
  auto first = x.begin();
  single *out = result.data();
  const single *in = x.data();
#pragma scop
  for (std::size_t i = 0; i < n; i++) {
    out[i] = std::sqrt(std::abs(in[i])) + detail::half(in[i]);
    if (std::isnan(out[i]))
      out[i] = std::max(in[i], single(1));
  }
#pragma endscop
  result[0] += *first;
  return result;
}

void smooth(int n, int m, double *__restrict__ a, const double *__restrict__ b) noexcept {
  auto *scratch = new double[n];
  const int most{n - detail::HALO};
  try {
    for (auto step = 0; step < 2; ++step) {
#pragma scop
      for (int i = detail::HALO; i < most; ++i)
        for (int j = 0; j < std::min(m, 1'000); j++)
          a[i * m + j] = square(b[(i - 1) * m + j]) + b[(i + 1) * m + j] * (i < BLOCK ? 2.0 : std::pow(0.5, 2));
#pragma endscop
    }
  } catch (const std::exception &m) {
    std::cerr << m.what();
  }
  delete[] scratch;
}

} // namespace numbers

// What is referred to may be anywhere: it is read by its name, and tested not to be written.
struct Settings {
  int rows, columns;
  double weight;
};

void scaled(const Settings &settings, const double &alpha, double *x, double &last, const int &shift) {
  const auto width = 1.5;
  auto y = x;
#pragma scop
  for (auto i = 0; i < settings.rows; i++)
    for (int j = shift; j < settings.columns; j++)
      y[i * settings.columns + j] = alpha * y[i * settings.columns + j] + settings.weight * width;
  last = last + y[0];
#pragma endscop
}

using namespace std;

double largest(int n, const double *x) {
  double found = 0;
#pragma scop
  for (int i = 0; i < n; i++)
    found = max(found, fabs(x[i]));
#pragma endscop
  return found;
}

extern "C" {
void count(int n, const std::int32_t *keys, bool *odd) {
#pragma scop
  for (int i = 0; i < n; i++)
    odd[i] = keys[i] % 2 != 0 ? true : false;
#pragma endscop
}
}

int main() {
  const int sizes[] = {0, 1, 2, 7, 23};
  for (int n : sizes) {
    numbers::Matrix a(n, n + 3), b(n + 3, n + 1), c(n, n + 1);
    for (int i = 0; i < n; i++)
      for (int j = 0; j < n + 3; j++)
        a(i, j) = b(j, i) = i - 0.25 * j;
    numbers::multiply(a, b, c);
    for (int k = 0; k < n * (n + 1); k++)
      cout << c.data()[k] << ' ';
    vector<float> x(n + 1);
    for (int i = 0; i <= n; i++)
      x[i] = i % 3 - 1.5f;
    for (float y : numbers::norms(n + 1, x))
      cout << y << ' ';
    vector<double> u(n * 4), v(n * 4);
    for (int i = 0; i < 4 * n; i++)
      v[i] = 1.0 / (i + 1);
    numbers::smooth(n, 4, u.data(), v.data());
    for (double y : u)
      cout << y << ' ';
    cout << largest(4 * n, v.data()) << '\n';
    Settings settings{n, 4, 0.75};
    double sum = 1;
    u.resize(4 * n + 1);
    const int none = 0;
    scaled(settings, 0.5, u.data(), sum, none);
    // The factor is an element that changes.
    scaled(settings, u[2 * n], u.data(), u[n], n);
    scaled(settings, u[2 * n], u.data(), sum, none);
    for (double y : u)
      cout << y << ' ';
    cout << sum << '\n';
    vector<int32_t> keys(n + 1, 3);
    unique_ptr<bool[]> odd(new bool[n + 1]);
    count(n + 1, keys.data(), odd.get());
    for (int i = 0; i <= n; i++)
      cout << odd[i];
    cout << endl;
  }
  cout << numbers::TITLE << numbers::twice(2) << string("\n");
}
