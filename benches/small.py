#!/usr/bin/env python3
"""Kernels of tests/c/kernels at small sizes: the text over the result, on one thread.

A result has to begin: it enters parallel loops, gets memory, packs operands. This table shows what
that costs where there is little work. Each kernel is compiled once as it is and once as translated,
with the same flags; all its extents are set to each number of --extents by the environment, and the
programs run in turns. The ratio is the text's time over ours: above 1 ours is faster.

The function with the region stands alone, as one of a library does. In `main` compilers would
know which arrays are apart, but not where threads have got their addresses.
"""

import argparse
import math
import os
import re
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
KERNELS = ROOT / "tests/c/kernels"
FLAGS = ["-O3", "-march=native", "-ffp-contract=off", "-fopenmp", "-w", "-DREPS=100"]
SECONDS = re.compile(r"seconds ([\d.]+)")
# Where a function with a region begins.
FUNCTION = re.compile(r"^static (?=\w+ kernel_)", re.MULTILINE)
# Seconds that the clock of a program is off by.
CLOCK = 2e-8
# A kernel of six loops takes longer than this at an extent of 64; its row ends there.
LIMIT = 10


def extents(text):
    """Names of the sizes that the environment sets."""
    return sorted(set(re.findall(r"SIZE\((\w+)\)", text)))


def built(lozenge, compiler, kernel, folder):
    """The programs of the text and of the result; nothing if a kernel is refused or has no sizes."""
    sizes = extents(kernel.read_text())
    result = folder / kernel.name
    ran = subprocess.run([lozenge, "compile", kernel, "-o", result], capture_output=True)
    if not sizes or ran.returncode != 0:
        return None
    programs = []
    for source, name in ((kernel, "text"), (result, "result")):
        alone = folder / f"{kernel.stem}-{name}.c"
        alone.write_text(FUNCTION.sub("__attribute__((noinline, noipa)) ", source.read_text()))
        program = folder / f"{kernel.stem}-{name}"
        command = [compiler, *FLAGS, "-I", KERNELS, alone, "-o", program, "-lm"]
        if subprocess.run(command, capture_output=True).returncode != 0:
            return None
        programs.append(program)
    return kernel.stem, sizes, programs


def seconds(program, sizes, extent):
    """The best time that a program prints; nothing if it takes too long."""
    env = dict(os.environ, OMP_NUM_THREADS="1") | {size: str(extent) for size in sizes}
    try:
        ran = subprocess.run([program], capture_output=True, text=True, env=env, timeout=LIMIT)
    except subprocess.TimeoutExpired:
        return None
    found = SECONDS.search(ran.stdout)
    return float(found[1]) if ran.returncode == 0 and found else None


def times(programs, sizes, extent, rounds):
    best = [math.inf, math.inf]
    for _ in range(rounds):
        for k, program in enumerate(programs):
            time = seconds(program, sizes, extent)
            if time is None:
                return None
            best[k] = min(best[k], time)
    return best if best[1] > 0 else None


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--lozenge", default="lozenge", help="the command that translates")
    parser.add_argument("--cc", default="gcc", help="the C compiler")
    parser.add_argument("--extents", default="4,8,16,32,64", help="numbers for all sizes")
    parser.add_argument("--rounds", type=int, default=3, help="runs of each program")
    parser.add_argument("--only", default="", help="kernels whose names have this in them")
    asked = parser.parse_args()
    numbers = [int(n) for n in asked.extents.split(",")]
    kernels = sorted(k for k in KERNELS.glob("*.c") if asked.only in k.name)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        with ThreadPoolExecutor() as pool:
            found = pool.map(lambda k: built(asked.lozenge, asked.cc, k, folder), kernels)
            programs = [one for one in found if one]
        print(f"{'kernel':24}" + "".join(f"{n:>8}" for n in numbers))
        columns = [[] for _ in numbers]
        for kernel, sizes, both in programs:
            row = [times(both, sizes, n, asked.rounds) for n in numbers]
            for column, value in zip(columns, row, strict=True):
                column.extend([value] if value else [])
            ratios = [f"{v[0] / v[1]:8.2f}" if v else f"{'-':>8}" for v in row]
            print(f"{kernel:24}" + "".join(ratios), flush=True)
    means = [math.exp(sum(math.log(a / b) for a, b in column) / max(len(column), 1)) for column in columns]
    print(f"{'geometric mean':24}" + "".join(f"{mean:8.2f}" for mean in means))
    slower = [sum(a < 0.95 * b and a < b - CLOCK for a, b in column) for column in columns]
    print(f"{'slower by over 5 %':24}" + "".join(f"{count:8}" for count in slower))
    return 0


if __name__ == "__main__":
    sys.exit(main())
