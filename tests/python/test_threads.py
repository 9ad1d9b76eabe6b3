"""Calls from several threads, and from processes that were forked."""

import os
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np

import lozenge

SLOW = "def slow [n] (xs: [n]f64): f64 = reduceSeq (\\x a -> sqrt (a * a + x)) 0 xs\n"


def test_many_threads_call_one_function(blas, rng):
    arrays = [rng.integers(-9, 9, (k + 1, k + 2)) for k in range(24)]

    def product(a):
        return all(np.array_equal(blas.matmul(a, a.T), a @ a.T) for _ in range(20))

    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(product, arrays))


def test_many_threads_compile_one_function():
    m = lozenge.load("def many [n] {t: num} (xs: [n]t): t = reduceSeq (\\x a -> a + x) 0 xs\n")
    types = ["f4", "f8", "i4", "i8"] * 4

    def total(dtype):
        return m.many(np.ones(9, dtype=dtype)) == 9

    with ThreadPoolExecutor(16) as pool:
        assert all(pool.map(total, types))


def changed_meanwhile(slow):
    """Whether the last element, changed when the call has begun, is seen by the call."""
    xs = np.ones(20_000_000)
    begun, results = threading.Event(), []

    def work():
        begun.set()
        results.append(slow(xs))

    thread = threading.Thread(target=work)
    thread.start()
    begun.wait()
    xs[-1] = np.nan
    thread.join()
    return np.isnan(results[0])


def test_the_interpreter_runs_meanwhile():
    slow = lozenge.load(SLOW).slow
    slow(np.ones(1))
    # Were the interpreter held, the call would be over before this thread could write.
    switch = sys.getswitchinterval()
    sys.setswitchinterval(5)
    try:
        assert any(changed_meanwhile(slow) for _ in range(5))
    finally:
        sys.setswitchinterval(switch)


def test_threads_can_be_chosen(blas, rng):
    a = rng.integers(-9, 9, (40, 40))
    m = lozenge.load(
        "def rows [m n] (a: [m][n]i64): [m]i64 = mapPar (reduceSeq (\\x s -> s + x) 0) a\n", threads=2
    )
    assert m.rows.threads == 2
    for threads in (0, 1, 2, 3):
        m.rows.threads = threads
        assert np.array_equal(m.rows(a), a.sum(axis=1))


def test_a_forked_process_does_not_wait_for_threads():
    m = lozenge.load(
        "def rows2 [m n] (a: [m][n]i64): [m]i64 = mapPar (reduceSeq (\\x s -> s + x) 0) a\n", threads=2
    )
    a = np.ones((300, 300), dtype="i8")
    assert (m.rows2(a) == 300).all()
    child = os.fork()
    if child == 0:
        os._exit(0 if (m.rows2(a) == 300).all() else 1)
    assert os.waitpid(child, 0)[1] == 0
