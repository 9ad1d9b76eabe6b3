// What names of C++ stand for, and those that say nothing to a region.
#include <cmath>

double table[4];
double gain[4];

inline double pick(double x) { return x + 1.0; }
inline float pick(float x) { return x - 1.0f; }

template <class T> T either(T a) { return a; }

struct Filter {
  double *gain;
  void members(int n, double *x) {
#pragma scop
    for (int i = 0; i < n; i++)
      x[i] *= gain[i];
#pragma endscop
  }
  void globals(int n, double *x) {
#pragma scop
    for (int i = 0; i < 4; i++)
      x[i] *= table[i];
#pragma endscop
  }
};

void overloads(int n, double *x) {
#pragma scop
  for (int i = 0; i < n; i++)
    x[i] = pick(x[i]);
#pragma endscop
}

void templates(int n, double *x) {
#pragma scop
  for (int i = 0; i < n; i++)
    x[i] = either(x[i]);
#pragma endscop
}

void references(const int &n, double &alpha, double *x) {
#pragma scop
  for (int i = 0; i < n; i++)
    x[i] = alpha;
#pragma endscop
}

void rebound(int n, double *&row, double (&all)[4], double x[]) {
#pragma scop
  for (int i = 0; i < n; i++)
    x[i] = row[i] + all[i];
#pragma endscop
}

inline void add(double &to, const double &value) { to += value; }
inline double halved(const double &value) { return 0.5 * value; }

void arguments(int n, double *x, double *y) {
#pragma scop
  for (int i = 0; i < n; i++)
    add(x[i], y[i]);
#pragma endscop
#pragma scop
  for (int i = 0; i < n; i++)
    x[i] = halved(y[i]);
#pragma endscop
}

void deduced(int n, double *x) {
  auto y = x + 1;
#pragma scop
  for (int i = 0; i < n; i++)
    y[i] = 0.0;
#pragma endscop
}

namespace library {
struct Vector {
  Vector(int n);
  double &operator[](int i);
};
} // namespace library

void classes(int n) {
  library::Vector table(n);
#pragma scop
  for (int i = 0; i < n; i++)
    table[i] = 0.0;
#pragma endscop
}

void single(int n, float *x, double *y) {
#pragma scop
  for (int i = 0; i < n; i++) {
    x[i] = std::sqrt(x[i]) + std::pow(x[i], 2);
    y[i] = std::sqrt(x[i]) + sqrt(x[i]);
  }
#pragma endscop
}

namespace shown {
using std::exp;
inline float growth(float x) { return exp(x); }
} // namespace shown

namespace hides {
double other(double x) __attribute__((const));
inline double twice(double x) { return 2 * other(x); }
} // namespace hides

void elsewhere(int n, float *x, double *y) {
#pragma scop
  for (int i = 0; i < n; i++)
    x[i] = shown::growth(x[i]) + exp(x[i]);
#pragma endscop
#pragma scop
  for (int i = 0; i < n; i++)
    y[i] = hides::twice(y[i]);
#pragma endscop
}

namespace own {
double sqrt(double x);
void hidden(int n, double *x) {
#pragma scop
  for (int i = 0; i < n; i++)
    x[i] = sqrt(x[i]);
#pragma endscop
}
} // namespace own
