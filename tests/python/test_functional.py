"""Functional programs against NumPy: bits for integers and for sums in a known order."""

import numpy as np
import pytest

import lozenge


def sequential_dot(xs, ys):
    total = xs.dtype.type(0)
    for x, y in zip(xs, ys, strict=True):
        total = xs.dtype.type(total + x * y)
    return total


@pytest.mark.parametrize("dtype", ["float32", "float64", "int32", "int64"])
@pytest.mark.parametrize("n", [0, 1, 100])
def test_dot_is_sequential(blas, rng, dtype, n):
    xs, ys = ((rng.standard_normal(n) * 8).astype(dtype) for _ in range(2))
    result = blas.dot(xs, ys)
    assert result.dtype == dtype
    assert result == sequential_dot(xs, ys)


@pytest.mark.parametrize("dtype", ["int32", "int64"])
def test_integers_wrap_as_in_numpy(blas, dtype):
    big = np.full(3, np.iinfo(dtype).max, dtype=dtype)
    with np.errstate(over="ignore"):
        assert blas.dot(big, big) == (big * big).sum(dtype=dtype)


def test_numbers_and_names(blas, rng):
    xs, ys = rng.standard_normal(9), rng.standard_normal(9)
    expected = 2.5 * xs + ys
    assert np.array_equal(blas.axpy(2.5, xs, ys), expected)
    assert np.array_equal(blas.axpy(ys=ys, xs=xs, alpha=np.float64(2.5)), expected)


def test_several_sizes(blas, rng):
    a, b = rng.integers(-9, 9, (4, 5)), rng.integers(-9, 9, (5, 6))
    assert np.array_equal(blas.matmul(a, b), a @ b)
    assert blas.matmul(np.zeros((0, 5)), np.zeros((5, 6))).shape == (0, 6)
    assert np.array_equal(blas.matmul(np.zeros((4, 0)), np.zeros((0, 6))), np.zeros((4, 6)))


def test_strategies_of_the_library(root, rng):
    products = lozenge.load(root / "library/products.loz")
    a, b = rng.standard_normal((17, 53)).astype("f4"), rng.standard_normal((53, 31)).astype("f4")
    assert np.allclose(products.sproduct_fast(a, b), a @ b, rtol=1e-4, atol=1e-4)


def test_a_schedule_for_all():
    m = lozenge.load("def twice [n] (xs: [n]i64): [n]i64 = map (\\x -> x + x) xs", schedule="auto")
    assert np.array_equal(m.twice(np.arange(5)), 2 * np.arange(5))


def test_results_that_are_pairs_of_arrays():
    m = lozenge.load("def both [n] (xs: [n]i64): ([n]i64, [n]i64) = unzip (mapPar (\\x -> (x, x * x)) xs)\n")
    first, second = m.both(np.arange(4))
    assert np.array_equal(first, np.arange(4)) and np.array_equal(second, np.arange(4) ** 2)
    outs = (np.empty(4, dtype="i8"), np.empty(4, dtype="i8"))
    returned = m.both(np.arange(4), out=outs)
    assert returned[0] is outs[0] and returned[1] is outs[1]
    assert np.array_equal(outs[1], np.arange(4) ** 2)
    with pytest.raises(TypeError, match="2 results"):
        m.both(np.arange(4), out=outs[0])


def test_elements_that_are_pairs():
    m = lozenge.load("def parts [n] (ps: [n](f32, i64)): [n]i64 = mapPar (\\p -> snd p) ps\n")
    pairs = np.zeros(3, dtype=np.dtype([("x1", "f4"), ("x2", "i8")], align=True))
    pairs["x2"] = [5, 6, 7]
    assert np.array_equal(m.parts(pairs), [5, 6, 7])
    packed = pairs.astype(np.dtype([("x1", "f4"), ("x2", "i8")]))
    with pytest.raises(lozenge.Error) as raised:
        m.parts(packed)
    assert raised.value.code == "X0202"


def test_truth_values():
    m = lozenge.load("def negated [n] (xs: [n]bool): [n]bool = mapPar (\\x -> not x) xs\n")
    assert np.array_equal(m.negated(np.array([True, False])), [False, True])
    with pytest.raises(lozenge.Error) as raised:
        m.negated(np.array([0, 2, 1], dtype="u1").view(bool))
    assert raised.value.code == "X0205"


def test_indices_are_compared_with_their_bound():
    m = lozenge.load("def pick [n m] (at: [n](idx m)) (xs: [m]f64): [n]f64 = mapPar (\\i -> xs[i]) at\n")
    xs = np.arange(4.0)
    assert np.array_equal(m.pick(np.array([3, 0]), xs), [3, 0])
    for wrong in ([0, 4], [-1, 0], [2**40, 0]):
        with pytest.raises(lozenge.Error) as raised:
            m.pick(np.array(wrong), xs)
        assert raised.value.code == "X0205"


def test_indices_inside_of_pairs_are_refused():
    m = lozenge.load(
        "def pick2 [n m] (ps: [n](idx m, f32)) (xs: [m]f64): [n]f64 = mapPar (\\p -> xs[fst p]) ps\n"
    )
    with pytest.raises(lozenge.Error) as raised:
        m.pick2.compile()
    assert raised.value.code == "X0207"


def test_a_number_that_is_an_index():
    m = lozenge.load("def element [m] (at: idx m) (xs: [m]f64): f64 = xs[at]\n")
    assert m.element(2, np.arange(4.0)) == 2
    for wrong in (4, -1):
        with pytest.raises(lozenge.Error) as raised:
            m.element(wrong, np.arange(4.0))
        assert raised.value.code == "X0205"


def test_sizes_that_no_shape_tells():
    m = lozenge.load("def count [n]: [n]i64 = mapPar (\\i -> i * i) (iota n)\n")
    assert np.array_equal(m.count(n=5), np.arange(5) ** 2)
    for sizes, code in (
        ({}, "X0101"),
        ({"n": -1}, "X0102"),
        ({"n": 1 << 60}, "X0103"),
        ({"n": 1 << 70}, "X0102"),
    ):
        with pytest.raises(lozenge.Error) as raised:
            m.count(**sizes)
        assert raised.value.code == code
    assert np.array_equal(m.count(out=np.empty(3, dtype="i8")), [0, 1, 4])


def test_names_that_python_has(root):
    m = lozenge.load(
        "def lambda [n] (xs: [n]i64): [n]i64 = xs\ndef keys [n] (xs: [n]i64): [n]i64 = xs\n", schedule="auto"
    )
    assert list(m) == ["lambda", "keys"] and len(m) == 2 and "keys" in m
    assert np.array_equal(m["lambda"](np.arange(2)), m.keys(np.arange(2)))
    with pytest.raises(AttributeError, match="lambda, keys"):
        m.nothing  # noqa: B018


def test_help_and_signature(blas):
    assert "xs: array of t (default float32), shape (n,)" in blas.dot.__doc__
    import inspect

    assert list(inspect.signature(blas.dot).parameters) == ["xs", "ys", "out", "n"]
    assert blas.dot.__name__ == "dot" and repr(blas.dot) == "<lozenge function dot>"


def test_integers_of_all_widths(root):
    m = lozenge.load(root / "library/examples/bytes.loz")
    grey = np.arange(256, dtype="u1")
    white = m.threshold(100, grey)
    assert white.dtype == np.uint8
    assert np.array_equal(white, np.where(grey >= 100, 255, 0))
    a = np.full((2, 40), -128, dtype="i1")
    b = np.full((40, 3), 255, dtype="u1")
    assert np.array_equal(m.byte_product(a, b), a.astype("i4") @ b.astype("i4"))


def test_records_are_pairs():
    m = lozenge.load("""
        type point = {x y: f64}
        def mirrored [n] (ps: [n]point): [n]point = map (\\p -> {y = -p.y, ..p}) ps
    """)
    points = np.array([(1.0, 2.0), (3.0, 4.0)], dtype=[("x1", "f8"), ("x2", "f8")])
    assert m.mirrored(points).tolist() == [(1.0, -2.0), (3.0, -4.0)]
