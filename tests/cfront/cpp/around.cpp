// Regions where types are not known, or names are not those of the function.
#include <algorithm>

template <typename T> void generic(int n, T *x) {
#pragma scop
  for (int i = 0; i < n; i++)
    x[i] = 0;
#pragma endscop
}

void lambda(int n, double *x) {
  auto set = [&](double value) {
#pragma scop
    for (int i = 0; i < n; i++)
      x[i] = value;
#pragma endscop
  };
  set(1.0);
#pragma scop
  for (int i = 0; i < n; i++)
    x[i] += 1.0;
#pragma endscop
}

struct Made {
  Made(int n, double *x) : n(n) {
#pragma scop
    for (int i = 0; i < n; i++)
      x[i] = 0;
#pragma endscop
  }
  int n;
};

void bound(int n, double *x) {
  int last = 0, other = n;
  int &alias = last;
#pragma scop
  for (int i = 0; i < n; i++) {
    last = i;
    x[i] = std::clamp(x[i], 0.0, 1.0);
  }
#pragma endscop
  x[0] = alias + other;
}
