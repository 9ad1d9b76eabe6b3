"""Regions of C against NumPy, and against the same loops in Python."""

import numpy as np
import pytest

import lozenge

HEAT = """
void heat(int t, int n, double a[t + 1][n]) {
  int s, i;  /* counters */
#pragma scop
  for (s = 0; s < t; s++)
    for (i = 1; i < n - 1; i++)
      a[s + 1][i] = (a[s][i - 1] + a[s][i] + a[s][i + 1]) / 3;
#pragma endscop
}
"""


def test_a_kernel_of_the_tests(root, rng):
    gemm = lozenge.load(root / "tests/c/kernels/gemm.c", exact=True)
    assert list(gemm) == ["kernel_gemm", "kernel_gemm_0"]
    a, b, c = (rng.integers(-9, 9, shape).astype("f8") for shape in ((20, 30), (30, 25), (20, 25)))
    expected = 1.25 * c + 1.5 * (a @ b)
    assert gemm.kernel_gemm(1.5, 1.25, c, a, b) is None
    assert np.array_equal(c, expected)


def test_steps_over_time_to_the_last_bit(rng):
    heat = lozenge.load(HEAT, exact=True)
    assert "heat" in heat
    a = np.zeros((9, 50))
    a[0] = rng.standard_normal(50)
    expected = a.copy()
    for s in range(8):
        row = expected[s]
        expected[s + 1, 1:-1] = (row[:-2] + row[1:-1] + row[2:]) / 3
    heat.heat(a)
    assert np.array_equal(a, expected)
    # nothing to do
    heat.heat(np.zeros((1, 0)))


def test_what_is_around_a_region_keeps_its_number(rng):
    m = lozenge.load("""
double norm(int n, const double *x) {
  double s = 0;
#pragma scop
  for (int i = 0; i < n; i++) s += x[i] * x[i];
#pragma endscop
  return s;
}
void inside(int n, double *x) {
  for (int r = 0; r < 3; r++) {
#pragma scop
    for (int i = 0; i < n; i++) x[i] += 1;
#pragma endscop
  }
}
""")
    assert list(m) == ["norm_0", "inside_1"]
    assert m.norm_0(s=1.0, x=np.array([3.0, 4.0])) == 26
    x = np.zeros(3)
    m.inside_1(x)
    assert (x == 1).all()


def test_arrays_that_overlap_are_refused():
    m = lozenge.load("""
void shift(int n, double *x, const double *y) {
#pragma scop
  for (int i = 0; i < n; i++) x[i] = y[i];
#pragma endscop
}
""")
    memory = np.arange(6.0)
    with pytest.raises(lozenge.Error) as raised:
        m.shift(memory[1:], memory[:-1])
    assert raised.value.code == "X0206"
    assert np.array_equal(memory, np.arange(6.0))
    m.shift(memory[:3], memory[3:])
    assert np.array_equal(memory, [3, 4, 5, 3, 4, 5])


def test_places_that_are_data_are_compared(root):
    text = """
void gather(int n, int m, double y[restrict n], const double x[restrict m], const int at[restrict n]) {
#pragma scop
  for (int i = 0; i < n; i++) y[i] = x[at[i]];
#pragma endscop
}
"""
    m = lozenge.load(text)
    y, x = np.zeros(3), np.arange(4.0)
    m.gather(y, x, np.array([3, 0, 1], dtype="i4"))
    assert np.array_equal(y, [3, 0, 1])
    for wrong in ([0, 4, 0], [0, 0, -1]):
        with pytest.raises(lozenge.Error) as raised:
            m.gather(y, x, np.array(wrong, dtype="i4"))
        assert raised.value.code == "X0205"


def test_written_arrays_must_fit():
    m = lozenge.load(HEAT)
    for wrong in (np.zeros((10, 4)).T, np.zeros((4, 10))[:, ::2], np.zeros((4, 10), dtype="f4"), np.zeros(4)):
        with pytest.raises(lozenge.Error):
            m.heat(wrong)


def test_macros(tmp_path):
    path = tmp_path / "fill.c"
    path.write_text("""#include "value.h"
void fill(double a[N]) {
#pragma scop
  for (int i = 0; i < N; i++) a[i] = VALUE;
#pragma endscop
}
""")
    (tmp_path / "include").mkdir()
    (tmp_path / "include/value.h").write_text("#define VALUE 7\n")
    m = lozenge.load(path, defines={"N": 5}, includes=[tmp_path / "include"])
    a = np.zeros(5)
    m.fill(a)
    assert (a == 7).all()
    with pytest.raises(lozenge.Error) as raised:
        lozenge.load(path, defines=["N=5"])
    assert raised.value.code == "X0305"


def test_subscripts_that_leave_an_array_are_refused():
    m = lozenge.load("""
void ahead(int n, int lo, double a[restrict n]) {
#pragma scop
  for (int i = lo; i < n - 1; i++) a[i] = a[i + 1];
#pragma endscop
}
void beyond(int n, double a[restrict n]) {
#pragma scop
  for (int i = 0; i < n; i++) a[i] = a[i + 1];
#pragma endscop
}
void part(int n, int k, double a[restrict n]) {
#pragma scop
  for (int i = 0; i < k; i++) a[i] = 0;
#pragma endscop
}
""")
    a = np.arange(4.0)
    m.ahead(a, lo=0)
    assert np.array_equal(a, [1, 2, 3, 3])
    m.part(a, k=2)
    assert np.array_equal(a, [0, 0, 3, 3])
    for call in (lambda: m.beyond(a), lambda: m.part(a, k=5), lambda: m.part(np.zeros(0), k=1 << 40)):
        with pytest.raises(lozenge.Error) as raised:
            call()
        assert raised.value.code == "L0205"
    m.beyond(np.zeros(0))
    m.part(a, k=4)
    assert (a == 0).all()


PLAIN = """
#include <math.h>
/* y = a x + y */
void saxpy(int n, float a, const float *x, float *y) {
  for (int i = 0; i < n; i++) y[i] = a * x[i] + y[i];
}
double dot(int n, const double *x, const double *y) {
  double s = 0;
  for (int i = 0; i < n; i++) s += x[i] * y[i];
  return s;
}
double norm(int n, const double *x) { return sqrt(dot(n, x, x)); }
static int argmax(int n, const double *x) {
  int k = 0;
  for (int i = 1; i < n; i++) if (x[i] > x[k]) k = i;
  return k;
}
void matvec(int m, int n, double A[m][n], const double *x, double *y) {
  for (int i = 0; i < m; i++) y[i] = dot(n, A[i], x);
}
double hypotenuse(double value, double b) { return sqrt(value * value + b * b); }
void other(int n, double *x) {
  for (int i = 0; i < n; i++) x[i] = unknown(x[i]);
}
char *text(void) { return "}"; }
int main(void) { return 0; }
"""


def test_functions_without_marks_are_functions(rng, tmp_path):
    path = tmp_path / "plain.c"
    path.write_text(PLAIN)
    x, y = rng.integers(-9, 9, (2, 7)).astype("f8")
    for source in (path, PLAIN):
        m = lozenge.load(source, exact=True)
        assert list(m) == ["saxpy", "dot", "norm", "argmax", "matvec", "hypotenuse", "other"]
        assert m.dot(x, y) == x @ y
        assert m.dot(7, x, y) == x @ y
        assert m.norm(x) == np.sqrt(x @ x)
        assert m.argmax(7, x) == np.argmax(x)
        assert m.hypotenuse(3.0, 4.0) == 5
        f = np.ones(3, "f4")
        m.saxpy(2, np.arange(3, dtype="f4"), f)
        m.saxpy(3, 2, np.arange(3, dtype="f4"), f)
        assert f.tolist() == [1, 5, 9]
        a, z = rng.integers(-9, 9, (5, 7)).astype("f8"), np.zeros(5)
        assert m.matvec(a, x, z) is None
        assert np.array_equal(z, a @ x)


def test_what_is_refused_of_a_function_has_its_place(tmp_path):
    path = tmp_path / "plain.c"
    path.write_text(PLAIN)
    line = PLAIN[: PLAIN.index("unknown")].count("\n") + 1
    with pytest.raises(lozenge.Error) as raised:
        lozenge.load(path).other(np.zeros(2))
    assert raised.value.code == "C0304"
    assert f"plain.c:{line}:38" in str(raised.value)
    with pytest.raises(lozenge.Error, match="7"):
        lozenge.load(path).dot(8, np.zeros(7), np.zeros(7))
