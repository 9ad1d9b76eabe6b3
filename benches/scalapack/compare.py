#!/usr/bin/env python3
"""The product on ranks beside ScaLAPACK's pdgemm: messages and bytes of real runs, and times.

usage: compare.py LOZENGE [--size N] [--block NB] [--grids 1x1,2x2,3x3,4x4] [--reps R]

Both run under the same mpirun on this machine, on square matrices of N x N doubles. Messages of
pdgemm are counted by pdgemm.c, which stands between the library and MPI; ours count themselves.
Times are the least of the repetitions, with one thread in each rank. They tell little on a machine
with fewer cores than ranks. Needs libscalapack-openmpi-dev and libopenblas-dev.
"""

import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
KERNEL = HERE.parent.parent / "tests/c/kernels/gemm.c"
ENVIRONMENT = os.environ | {
    "OMPI_ALLOW_RUN_AS_ROOT": "1",
    "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    "OMPI_MCA_mpi_yield_when_idle": "1",
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
}


def output(command: list[str]) -> str:
    """What a command prints; an error with what it said if it fails."""
    done = subprocess.run(command, env=ENVIRONMENT, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)}: {done.stderr or done.stdout}")
    return done.stdout


def theirs(program: pathlib.Path, grid: tuple[int, int], arguments: argparse.Namespace) -> dict[str, float]:
    """Messages, bytes and seconds of pdgemm."""
    command = ["mpirun", "--oversubscribe", "-n", str(grid[0] * grid[1]), str(program)]
    command += [str(n) for n in (*grid, arguments.size, arguments.block, arguments.reps)]
    lines = [line.split() for line in output(command).splitlines()]
    seconds = min(float(value) for name, value in lines if name == "time")
    counts = {name: float(value) for name, value in lines if name != "time"}
    return {"seconds": seconds, "messages": counts["messages"], "bytes": counts["bytes"]}


def ours(grid: tuple[int, int], arguments: argparse.Namespace) -> dict[str, float]:
    """The same of the program that Lozenge makes."""
    command = [arguments.lozenge, "run", str(KERNEL), "--target", "mpi", "--json", "--quiet", "--threads", "1"]
    command += ["--grid", f"{grid[0]}x{grid[1]}", "--reps", str(arguments.reps)]
    for size in ("ni", "nj", "nk"):
        command += ["--size", f"{size}={arguments.size}"]
    for array in ("C(block, block)", "A(block, block)", "B(block, block)"):
        command += ["--distribute", array]
    told = json.loads(output(command))
    return {"seconds": min(told["seconds"]), "messages": told["messages"], "bytes": told["bytes"]}


def main() -> None:
    """Prints a line for each grid."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("lozenge")
    parser.add_argument("--size", type=int, default=2048)
    parser.add_argument("--block", type=int, default=64)
    parser.add_argument("--grids", default="1x1,2x2,3x3,4x4")
    parser.add_argument("--reps", type=int, default=3)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        program = pathlib.Path(folder) / "pdgemm"
        source = str(HERE / "pdgemm.c")
        output(["mpicc", "-O2", source, "-o", str(program), "-lscalapack-openmpi", "-lopenblas"])
        print("| grid | messages | pdgemm | bytes | pdgemm | bytes over pdgemm | time | pdgemm |")
        print("| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |")
        for text in arguments.grids.split(","):
            rows, columns = map(int, text.split("x"))
            own, other = ours((rows, columns), arguments), theirs(program, (rows, columns), arguments)
            ratio = f"{own['bytes'] / other['bytes']:.2f}" if other["bytes"] else "-"
            print(
                f"| {text} | {own['messages']:.0f} | {other['messages']:.0f} | {own['bytes']:.0f} "
                f"| {other['bytes']:.0f} | {ratio} | {own['seconds']:.3f} s | {other['seconds']:.3f} s |"
            )


if __name__ == "__main__":
    main()
