"""What a call costs beyond the C function: `python -m lozenge.bench_call`.

A function of three arrays of one element does next to nothing, so its time is that of the call.
Beside it are the same compiled function called by ctypes with addresses that are known already,
and with NumPy arrays whose addresses ctypes asks for (what a wrapper by hand does).
"""

from __future__ import annotations

import argparse
import ctypes
import glob
import os
import sys
import tempfile
import time

import numpy

import lozenge

SOURCE = "def {} [n] (x y z: [n]f32): [n]f32 = zip x (zip y z) |> mapSeq (\\(a, (b, c)) -> a + b + c)\n"


def best(call, repetitions: int, rounds: int) -> float:
    """Seconds of a call: the least of many short rounds, so that other programs disturb few of them."""
    found = []
    for _ in range(rounds):
        start = time.perf_counter()
        for _ in range(repetitions):
            call()
        found.append((time.perf_counter() - start) / repetitions)
    return min(found)


def compiled():
    """The function as this package calls it, its arrays, and the same function for ctypes."""
    # A name that no other run has, so that the object is compiled here and found.
    name = f"add3_{os.getpid()}_{time.monotonic_ns()}"
    before = os.environ.get("XDG_CACHE_HOME")
    with tempfile.TemporaryDirectory() as folder:
        os.environ["XDG_CACHE_HOME"] = folder
        try:
            function = lozenge.load(SOURCE.format(name))[name]
            arrays = [numpy.full(1, k, dtype=numpy.float32) for k in range(3)]
            function(*arrays)
        finally:
            if before is None:
                del os.environ["XDG_CACHE_HOME"]
            else:
                os.environ["XDG_CACHE_HOME"] = before
        [path] = glob.glob(os.path.join(folder, "lozenge", "*.so"))
        entry = ctypes.CDLL(path)[name]
    entry.restype = ctypes.c_int
    entry.argtypes = [ctypes.c_int64] + [ctypes.c_void_p] * 4
    return function, arrays, entry


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m lozenge.bench_call", description=__doc__)
    parser.add_argument("--repetitions", type=int, default=200)
    parser.add_argument("--rounds", type=int, default=500)
    parser.add_argument(
        "--most", type=float, help="fail if a call costs more microseconds beyond the C function"
    )
    options = parser.parse_args(arguments)
    function, (x, y, z), entry = compiled()
    out = numpy.empty(1, dtype=numpy.float32)
    places = [array.ctypes.data for array in (x, y, z, out)]

    def by_hand():
        entry(len(x), x.ctypes.data, y.ctypes.data, z.ctypes.data, out.ctypes.data)

    calls = {
        "ctypes, addresses known": lambda: entry(1, *places),
        "ctypes, addresses asked for": by_hand,
        "lozenge, out= given": lambda: function(x, y, z, out=out),
        "lozenge, a new result": lambda: function(x, y, z),
        "numpy, x + y": lambda: x + y,
        "an empty function of Python": lambda: None,
    }
    times = {name: best(call, options.repetitions, options.rounds) * 1e6 for name, call in calls.items()}
    empty = times.pop("an empty function of Python")
    least = times["ctypes, addresses known"]
    print(f"a call with three arrays of one element ({sys.implementation.name} {sys.version.split()[0]})")
    for name, micro in times.items():
        print(f"  {name:<28} {micro:6.3f} us  {least / micro:5.2f} of ctypes' speed")
    # The time of the C function is in it, so this is a little more than the overhead.
    beyond = times["lozenge, a new result"] - empty
    print(f"beyond an empty function of Python: {beyond:.3f} us with a new result")
    if options.most is not None and beyond > options.most:
        print(f"more than {options.most} us", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
