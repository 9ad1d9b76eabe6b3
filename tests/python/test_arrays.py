"""What may be given as an array, what is copied, and what is refused."""

import array
import inspect
import random

import numpy as np
import pytest

import lozenge


class OnlyDlpack:
    """As a tensor of another library: no buffer, nothing of NumPy."""

    def __init__(self, inner):
        self._inner = inner

    def __dlpack__(self, **keywords):
        return self._inner.__dlpack__(**keywords)

    def __dlpack_device__(self):
        return self._inner.__dlpack_device__()


def code(call):
    with pytest.raises(lozenge.Error) as raised:
        call()
    return raised.value.code


def test_buffers_and_dlpack(blas):
    xs = np.arange(4.0)
    assert blas.dot(xs, xs) == 14
    assert blas.dot(array.array("d", xs), memoryview(xs)) == 14
    assert blas.dot(OnlyDlpack(xs), xs) == 14
    out = np.empty(4)
    assert np.array_equal(blas.axpy(1, OnlyDlpack(xs), xs, out=out), 2 * xs)


def test_layouts_are_copied_where_they_must_be(blas, rng):
    a, b = rng.integers(-9, 9, (6, 8)), rng.integers(-9, 9, (8, 6))
    assert np.array_equal(blas.matmul(a.T.copy().T, b[::1, ::-1]), a @ b[:, ::-1])
    assert np.array_equal(blas.matmul(a[::2], b), a[::2] @ b)
    raw = bytearray(8 * 5 + 1)
    unaligned = np.frombuffer(raw, dtype="i8", offset=1)
    unaligned[:] = np.arange(5)
    assert blas.dot(unaligned, unaligned) == 30
    read_only = np.arange(3)
    read_only.flags.writeable = False
    assert blas.dot(read_only, read_only) == 5


def test_nothing_is_copied_that_fits(blas):
    """The result goes to the memory that was given, by the address."""
    out = np.empty(1000)
    xs = np.ones(1000)
    assert blas.scal(3.0, xs, out=out) is out
    assert (out == 3).all()


def test_out_may_be_an_input(blas, rng):
    a, b = rng.integers(-9, 9, (5, 5)), rng.integers(-9, 9, (5, 5))
    expected = a @ b
    assert np.array_equal(blas.matmul(a, b, out=a), expected)
    square = b.copy()
    assert np.array_equal(blas.matmul(square, square, out=square), b @ b)
    # shifted by one element
    xs = np.arange(9)
    assert np.array_equal(blas.scal(2, xs[:-1], out=xs[1:]), 2 * np.arange(8))


def test_types_are_not_converted(blas, root):
    products = lozenge.load(root / "library/products.loz")
    a = np.ones((2, 2))
    assert code(lambda: products.sproduct_fast(a, a)) == "X0202"
    assert code(lambda: products.sproduct_fast(a.astype(">f4"), a.astype("f4"))) == "X0202"
    assert code(lambda: blas.dot(np.ones(2), np.ones(2, dtype="f4"))) == "X0202"
    assert code(lambda: blas.dot(np.ones(2, dtype="f2"), np.ones(2, dtype="f2"))) == "F0507"
    assert code(lambda: blas.dot(np.ones(2, dtype="c16"), np.ones(2, dtype="c16"))) == "X0202"
    assert code(lambda: blas.dot(np.array(["a"]), np.array(["b"]))) == "X0202"
    assert code(lambda: blas.dot(np.array([object()]), np.array([None]))) == "X0202"


def test_shapes_agree(blas):
    assert code(lambda: blas.dot(np.ones(2), np.ones(3))) == "X0203"
    assert code(lambda: blas.dot(np.ones((2, 2)), np.ones(2))) == "X0203"
    assert code(lambda: blas.dot(np.float64(2), np.ones(2))) == "X0203"
    assert code(lambda: blas.dot(np.ones(2), np.ones(2), n=3)) == "X0203"
    assert code(lambda: blas.scal(2, np.ones(3), out=np.ones(4))) == "X0203"
    # after calls that were fine
    assert blas.dot(np.ones(2), np.ones(2)) == 2
    assert code(lambda: blas.dot(np.ones(2), np.ones(3))) == "X0203"


@pytest.mark.parametrize("wrong", [None, 3, "text", [1, 2], (1.0,), {}, object(), b"", len, np])
def test_what_is_no_array(blas, wrong):
    assert code(lambda: blas.dot(wrong, np.ones(2))) in ("X0207", "X0202", "X0203")
    assert code(lambda: blas.scal(2, np.ones(2), out=(wrong,) if wrong is not None else (5,))) in (
        "X0207",
        "X0202",
        "X0203",
    )


@pytest.mark.parametrize("wrong", [None, "text", [], 1j, np.ones(2), object()])
def test_what_is_no_number(blas, wrong):
    assert code(lambda: blas.scal(wrong, np.ones(2))) == "X0207"


def test_numbers_that_a_type_lacks(blas):
    assert code(lambda: blas.scal(1.5, np.ones(2, dtype="i4"))) == "X0207"
    assert code(lambda: blas.scal(1 << 40, np.ones(2, dtype="i4"))) == "X0207"
    assert code(lambda: blas.scal(1 << 80, np.ones(2, dtype="i8"))) == "X0207"
    assert np.array_equal(blas.scal(-(1 << 31), np.ones(1, dtype="i4")), [-(1 << 31)])


def test_results_that_can_not_be_written(blas):
    read_only = np.empty(3)
    read_only.flags.writeable = False
    assert code(lambda: blas.scal(2, np.ones(3), out=read_only)) == "X0207"
    assert code(lambda: blas.scal(2, np.ones(3), out=np.empty(6)[::2])) == "X0207"
    assert code(lambda: blas.scal(2, np.ones(3), out=np.empty(3, dtype="f4"))) == "X0202"
    assert code(lambda: blas.scal(2, np.ones(3), out=b"12345678" * 3)) in ("X0202", "X0207")


def test_arguments_as_in_python(blas):
    xs = np.ones(2)
    for call in (
        lambda: blas.dot(xs),
        lambda: blas.dot(xs, xs, xs),
        lambda: blas.dot(xs, xs, xs=xs),
        lambda: blas.dot(xs, xs, zs=xs),
        lambda: blas.dot(xs, xs, out=(np.empty(()), np.empty(()))),
    ):
        with pytest.raises(TypeError):
            call()


def test_random_arguments_do_no_harm(blas):
    """Any objects in any place: a result or an error, and good calls work afterwards."""
    generator = random.Random(11)
    xs = np.arange(6.0)
    square = np.ones((3, 3))
    pool = [
        *(None, True, -1, 3, 2.5, 1j, 1 << 70, "text", b"12345678", [], [1.0], {}, object(), np, len),
        *(xs, xs[::2], xs[::-1], xs.reshape(2, 3), xs.reshape(2, 3).T, xs.astype("f4"), xs.astype(">f8")),
        *(
            square,
            square[:2],
            square[:, :2],
            square.astype("i4"),
            np.zeros(0),
            np.zeros((0, 3)),
            np.zeros(()),
        ),
        *(np.ma.masked_array(xs), np.float32(2), np.array(["a"]), np.array([None]), memoryview(b"abcd")),
        *(np.broadcast_to(xs, (3, 6)), np.zeros(3, dtype=[("x", "f8")]), np.datetime64("2020-01-01"), xs > 2),
    ]
    fine = 0
    for _ in range(4000):
        function = blas[generator.choice(["dot", "axpy", "scal", "gemv", "matmul", "nrm2", "outer", "iamax"])]
        count = generator.choice([len(inspect.signature(function).parameters) - 2, 1, 2, 3, 5])
        arguments = [generator.choice(pool) for _ in range(max(count, 0))]
        keywords = {"out": generator.choice(pool)} if generator.random() < 0.2 else {}
        try:
            function(*arguments, **keywords)
            fine += 1
        except (lozenge.Error, TypeError):
            pass
    assert fine > 50
    assert blas.dot(np.arange(3.0), np.arange(3.0)) == 5


def test_a_number_goes_to_an_array_without_dimensions(blas):
    out = np.zeros(())
    assert blas.dot(np.ones(3), np.ones(3), out=out) == 3 and out == 3


def test_half_precision(root):
    half = lozenge.load(root / "library/examples/half.loz")
    xs = np.array([1, 0.1, 65504, -6e-8], dtype=np.float16)
    assert np.array_equal(half.widen(xs), xs.astype(np.float32))
    ys = np.array([1.0004882812509095, 65519, 3e-8, -0.0])
    assert half.rounded(ys).tobytes() == ys.astype(np.float16).tobytes()
    a = np.arange(12, dtype=np.float16).reshape(3, 4)
    assert np.array_equal(half.product(a, a.T.copy()), a @ a.T)
    assert code(lambda: half.widen(xs.astype(np.float32))) == "X0202"
