"""Errors of sources, and what an error tells."""

import pickle
import random
import re

import numpy
import pytest

import lozenge


def raised(call):
    with pytest.raises(lozenge.Error) as found:
        call()
    return found.value


def test_an_error_tells_its_place(tmp_path):
    path = tmp_path / "sum.loz"
    path.write_text(
        "def sum2 [n m] (xs: [n]f32) (ys: [m]f32): [n]f32 =\n  zip xs ys |> mapPar (\\(x, y) -> x + y)\n"
    )
    error = raised(lambda: lozenge.load(path))
    assert error.code == "F0402" and error.message == "the sizes `m` and `n` differ"
    assert f"--> {path}:2:10" in error.rendered and str(error) == error.rendered
    assert error.diagnostics[0]["labels"][0]["line"] == 2
    again = pickle.loads(pickle.dumps(error))
    assert (again.code, again.rendered) == (error.code, error.rendered)
    assert again.diagnostics == error.diagnostics


def test_a_text_has_a_name():
    assert "<text>.loz:1:" in raised(lambda: lozenge.load("def f (x: f32): f32 = y\n")).rendered
    c = "void f(int n, double *a) {\n#pragma scop\n for (;;) a[0] = 1;\n#pragma endscop\n}\n"
    assert "<text>.c:3:" in raised(lambda: lozenge.load(c)).rendered


def test_options_are_in_the_words_of_python():
    text = "def twice [n] (xs: [n]i64): [n]i64 = map (\\x -> x + x) xs\n"
    assert lozenge.load(text).twice(numpy.array([1, 2])).tolist() == [2, 4]
    error = raised(lambda: lozenge.load(text, strategy="none").twice.compile())
    assert (
        error.code == "D0101" and 'schedule="auto"' in error.rendered and "--schedule" not in error.rendered
    )
    count = lozenge.load("def count [n]: [n]i64 = iota n |> mapSeq (\\x -> x)\n")
    assert "--size" not in raised(lambda: count.count()).rendered


@pytest.mark.parametrize(
    "call",
    [
        lambda: lozenge.load("missing.loz"),
        lambda: lozenge.load("missing.onnx"),
        lambda: lozenge.load("/"),
        lambda: lozenge.load("def f (x: f32): f32 = x\n", strategy="nonsense").f.compile(),
        lambda: lozenge.load("def f (x: f32): f32 = x\n", language="rust"),
        lambda: lozenge.load("int x;\n", language="c"),
        lambda: lozenge.load("def f {t: num} (x: t): t = x\n", types={"t": "f16"}).f.compile(),
        lambda: lozenge.load("\0"),
        lambda: lozenge.load("(" * 100000 + "\n"),
    ],
)
def test_what_can_not_be_loaded(call):
    error = raised(call)
    assert re.fullmatch("[A-Z][0-9]{4}", error.code) and error.message


@pytest.mark.parametrize("threads", [-1, 1 << 40, "two", 1.5])
def test_threads_are_a_number(threads):
    with pytest.raises((TypeError, OverflowError, ValueError)):
        lozenge.load("def f (x: f32): f32 = x\n", threads=threads)


def test_every_code_has_a_page(root):
    """Those that the Python side names; those of the Rust side are looked for there."""
    pages = {page.stem for page in (root / "docs/errors").glob("*.md")}
    for file in (root / "crates/lozenge-py/python").rglob("*.py"):
        for code in re.findall('"([A-Z][0-9]{4})"', file.read_text()):
            assert code in pages and code in (root / "crates/lozenge-py/src/lib.rs").read_text(), (file, code)


def test_random_texts_do_no_harm(root):
    """Pieces of programs in any order: an error or a module, never more."""
    generator = random.Random(5)
    for name in ("library/blas.loz", "tests/c/kernels/spmv.c"):
        words = re.findall(r"\w+|\W", (root / name).read_text())
        for _ in range(12):
            start = generator.randrange(len(words))
            piece = words[start : start + 120]
            for _ in range(6):
                piece[generator.randrange(len(piece))] = generator.choice(words)
            try:
                lozenge.load("".join(piece) + "\n", language=name.rsplit(".", 1)[1])
            except lozenge.Error as error:
                assert error.code != "X0601", "".join(piece)
