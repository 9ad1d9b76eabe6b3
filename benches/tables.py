#!/usr/bin/env python3
"""Every table of docs/performance.md, measured on this machine, in one file.

usage: tables.py [--quick] [--only TEXT,...] [--outputs NAME=DIR]... [--list]

Writes docs/performance/MACHINE.md after each table, so that what is measured stays if a later command is stopped. MACHINE
is the name of the processor. The file says what the machine is, and has the command, the commit, the time and the whole
output of each table; a command that fails is shown with what it said. With --only the other tables stay as they were
measured before, and those that were never measured are named. --quick takes small sizes and a few programs, to see that
everything runs; its file is target/performance/MACHINE.md. --list prints the commands.
`lozenge` must be the first on the PATH that is to be measured: `./x bench --all` builds it and sets the PATH.
"""

import argparse
import os
import pathlib
import platform
import re
import resource
import subprocess
import sys
import time
from typing import NamedTuple

ROOT = pathlib.Path(__file__).resolve().parent.parent
KERNELS = "tests/c/kernels"
EXTENTS = (
    "gemm 2mm 3mm symm syrk syr2k trmm doitgen atax bicg mvt gesummv gemver jacobi-2d fdtd-2d lu-right cholesky trsm"
    " conv-layer contraction"
)
REGISTERS = "gemm 2mm syrk trmm doitgen lu-right"


class Table(NamedTuple):
    """A heading, the command that prints the table, and a short one that shows that it runs."""

    heading: str
    command: str
    quick: str


def kernels(names):
    return f"{KERNELS}/{{{','.join(names.split())}}}.c"


TABLES = [
    Table(
        "The programs of the paper",
        "lozenge bench benches/paper --threads 1,2",
        "lozenge bench benches/paper --threads 1,2 --quick --filter dot",
    ),
    Table(
        "Stencils with borders",
        "lozenge bench benches/stencils --threads 1,2",
        "lozenge bench benches/stencils --threads 1,2 --quick --filter smooth",
    ),
    Table(
        "Programs as people write them",
        "lozenge bench benches/programs --threads 1,2",
        "lozenge bench benches/programs --threads 1,2 --quick --filter relaxation",
    ),
    Table(
        "Translation of functional programs",
        "lozenge bench library --translation",
        "lozenge bench library --translation --quick --filter axpy",
    ),
    Table(
        "C kernels",
        f"lozenge bench {KERNELS} --threads 1,2",
        f"lozenge bench {KERNELS} --threads 1,2 --quick --filter gesummv",
    ),
    Table(
        "Bytes moved behind each cache",
        f"lozenge bench {KERNELS} --movement",
        f"lozenge bench {KERNELS} --movement --filter gesummv",
    ),
    Table(
        "C kernels whose sums may be reordered",
        f"lozenge bench {KERNELS} --threads 1,2 --reassociate",
        f"lozenge bench {KERNELS} --threads 1,2 --reassociate --quick --filter gesummv",
    ),
    Table(
        "Extents as parameters and as constants",
        f"lozenge bench {kernels(EXTENTS)} --extents both --threads 1,2",
        f"lozenge bench {KERNELS}/gesummv.c --extents both --threads 1,2 --quick",
    ),
    Table(
        "Predicted costs",
        f"lozenge bench {KERNELS} --model --threads 1,2",
        f"lozenge bench {KERNELS} --model --threads 1 --quick --filter gesummv",
    ),
    Table(
        "Register tiles for 32 registers of 64 bytes",
        f"LOZENGE_REGISTERS=32x64 lozenge bench {kernels(REGISTERS)} --threads 1",
        f"LOZENGE_REGISTERS=32x64 lozenge bench {KERNELS}/gesummv.c --threads 1 --quick",
    ),
    Table(
        "Register tiles for 16 registers of 32 bytes",
        f"LOZENGE_REGISTERS=16x32 lozenge bench {kernels(REGISTERS)} --threads 1",
        f"LOZENGE_REGISTERS=16x32 lozenge bench {KERNELS}/gesummv.c --threads 1 --quick",
    ),
    Table(
        "C kernels through clang",
        f"CC=clang-16 lozenge bench {kernels(REGISTERS)} --threads 1",
        f"CC=clang-16 lozenge bench {KERNELS}/gesummv.c --threads 1 --quick",
    ),
    Table(
        "Translation of C kernels",
        f"lozenge bench {KERNELS} --translation",
        f"lozenge bench {KERNELS} --translation --filter gesummv",
    ),
    Table("The theory", "git clean -fdXq proofs; ./x proofs 2>&1", "./x proofs 2>&1"),
    Table("Certificates", "lozenge prove library", "lozenge prove library/vectors.loz --def axpy"),
    Table("Loop nests of real codes", "./x nests", "./x nests --rounds 0"),
    Table("C kernels at small sizes", "./x small", "./x small --only gemm --rounds 1"),
    Table("Whole models", "./x models --threads 1,2 --reps 5", "./x models --small --only mlp --reps 1"),
    Table(
        "Single operators",
        "./x models --operators --threads 1 --reps 15",
        "./x models --operators --only Softmax --threads 1 --reps 1",
    ),
    Table("Real models", "./x models --real --threads 1,2 --reps 5", "true"),
    Table("Rewriting models", "lozenge bench --rewriting", "lozenge bench --rewriting --quick"),
    Table("Optimizers of small models", "./x optimizers", "./x optimizers"),
    Table("Optimizers of models", "./x optimizers --full", "true"),
    Table("Costs of calls", "lozenge bench --costs", "lozenge bench --costs --quick"),
    Table(
        "Emulated cores (modelled times)",
        f"lozenge bench {KERNELS} --target athread --at large --quick",
        f"lozenge bench {KERNELS} --target athread --at medium --quick --filter gesummv",
    ),
    Table(
        "Translation to cores",
        f"lozenge bench {KERNELS} --target athread --translation",
        f"lozenge bench {KERNELS} --target athread --translation --quick --filter gesummv",
    ),
]


def told(command):
    """The first line that a command prints, or nothing."""
    try:
        done = subprocess.run(command, shell=True, capture_output=True, text=True, cwd=ROOT)
    except OSError:
        return ""
    return (done.stdout.strip().splitlines() or [""])[0] if done.returncode == 0 else ""


def processor():
    """What the system calls the processor, with family and model on x86, where many have the same name; else from lscpu."""
    info = pathlib.Path("/proc/cpuinfo").read_text() if os.path.exists("/proc/cpuinfo") else ""
    found = [re.search(rf"^{key}\s*:\s*(.+)$", info, re.MULTILINE) for key in ("model name", "cpu family", "model")]
    if all(found):
        name, family, model = (match[1].strip() for match in found)
        return f"{name}, family {family}, model {model}"
    return told("lscpu | sed -n 's/^Model name: *//p'") or platform.machine()


def file_name(name):
    """A processor's name as the name of a file: letters and digits, with hyphens between."""
    plain = re.sub(r"\((r|tm)\)", " ", name.lower())
    return re.sub(r"[^a-z0-9]+", "-", plain).strip("-") or "machine"


def about(name):
    """The table at the top: the machine, and what the results depend on."""
    library = {"OpenBLAS": "libopenblas-dev", "BLIS": "libblis-dev", "isl": "libisl-dev"}
    rows = [
        ("processor", name),
        ("cores", str(os.cpu_count())),
        ("caches", told("lscpu | sed -n 's/^\\(L[123].*\\) cache: */\\1 /p' | paste -sd, | sed 's/,/, /g'")),
        ("memory", told("awk '/MemTotal/ {printf \"%.0f GiB\", $2 / 1048576}' /proc/meminfo")),
        ("system", told("uname -srm")),
        ("gcc", told("gcc --version")),
        ("clang", told("clang-16 --version")),
        *((what, told(f"dpkg-query -W -f='${{Version}}\\n' {package}")) for what, package in library.items()),
        ("onnxruntime", told("target/onnx/venv/bin/python -c 'import onnxruntime as o; print(o.__version__)'")),
    ]
    return "\n".join(["| | |", "| --- | --- |", *(f"| {what} | {value or 'not there'} |" for what, value in rows)])


def commit():
    """The commit that is measured, and whether something is changed in it."""
    changed = told("git status --porcelain --untracked-files=no -- crates library benches tests/c")
    return told("git rev-parse --short=12 HEAD") + (", with changes" if changed else "")


def measured(command):
    """What a command printed, as a section: when, of which commit, how long, and the load of the machine before."""
    load, began = os.getloadavg()[0], time.time()
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    # Progress goes to the terminal; it is no part of the table.
    done = subprocess.run(["bash", "-c", command], stdout=subprocess.PIPE, text=True, cwd=ROOT)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    when = time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime(began))
    ended = "" if done.returncode == 0 else f" **It failed with exit code {done.returncode}.**"
    head = (
        f"{when}, commit {commit()}, load {load:.1f} before; {time.time() - began:.0f} s,\n"
        f"of which {used:.0f} s of processor time.{ended}"
    )
    return f"{head}\n\n```text\n{done.stdout.rstrip()}\n```", done.returncode == 0


def before(path):
    """The sections of tables that were measured before, by heading; those of other commands are not kept."""
    if not path.exists():
        return {}
    section = r"^## ([^\n]+)\n\n```sh\n([^\n]+)\n```\n\n(.+?)(?=\n\n## |\Z)"
    found = re.findall(section, path.read_text(), re.MULTILINE | re.DOTALL)
    commands = {table.heading: table.command for table in TABLES}
    return {heading: body.rstrip() for heading, command, body in found if commands.get(heading) == command}


def page(name, commands, sections, quick):
    """The whole file, with what is measured so far."""
    lines = [
        f"# Performance: {name}",
        "",
        "Written by `./x bench --all`. [Performance](../performance.md) explains the tables. A ratio is",
        "*their time over ours*: above 1, Lozenge is faster.",
        "",
        about(name),
    ]
    if quick:
        lines += ["", "**Measured with `--quick`: small sizes, to see that everything runs.**"]
    for heading, command in commands.items():
        if heading in sections:
            lines += ["", f"## {heading}", "", "```sh", command, "```", "", sections[heading]]
    left = [command for heading, command in commands.items() if heading not in sections]
    if left:
        lines += ["", "## Not measured yet", "", "```sh", *left, "```"]
    return "\n".join(lines) + "\n"


def enter(name, path):
    """Names the page in the index and in docs/performance.md, if it is not there yet."""
    link = f"[{name}](performance/{path.name})"
    places = {"SUMMARY.md": ("- [Performance](performance.md)\n", "  - "), "performance.md": ("<!-- machines -->\n", "- ")}
    for page_name, (after, bullet) in places.items():
        index = ROOT / "docs" / page_name
        text = index.read_text()
        if f"(performance/{path.name})" not in text:
            assert after in text, f"{index} has no line {after!r}"
            index.write_text(text.replace(after, f"{after}{bullet}{link}\n", 1))


def chooses(text, heading):
    """Whether a text of --only chooses a table: it is in the heading, or is the whole of this one where it is one."""
    whole = [table.heading.lower() for table in TABLES]
    return text == heading if text in whole else text in heading


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="small sizes and few programs, for a trial")
    parser.add_argument("--only", default="", help="tables with one of these headings, or these texts in them")
    parser.add_argument("--outputs", action="append", default=[], metavar="NAME=DIR", help="for `lozenge bench` of C kernels")
    parser.add_argument("--list", action="store_true", help="print the commands and measure nothing")
    given = parser.parse_args()
    if given.list:
        print("\n".join(table.command for table in TABLES))
        return
    wanted = [text.lower() for text in given.only.split(",")]
    chosen = [t for t in TABLES if any(chooses(text, t.heading.lower()) for text in wanted)]
    chosen = [(t, t.quick if given.quick else t.command) for t in chosen]
    if not chosen:
        sys.exit(f"no table has {given.only!r} in its heading")
    others = "".join(f" --outputs {name}" for name in given.outputs)
    chosen = [(t, c + others if t.heading == "C kernels" else c) for t, c in chosen]
    name = processor()
    folder = ROOT / ("target/performance" if given.quick else "docs/performance")
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{file_name(name)}.md"
    sections, failed = {} if given.quick else before(path), []
    commands = {table.heading: table.quick if given.quick else table.command for table in TABLES}
    commands |= {table.heading: command for table, command in chosen}
    for k, (table, command) in enumerate(chosen, 1):
        print(f"[{k}/{len(chosen)}] {table.heading}: {command}", file=sys.stderr, flush=True)
        sections[table.heading], well = measured(command)
        failed += [] if well else [table.heading]
        path.write_text(page(name, commands, sections, given.quick))
    if not given.quick:
        enter(name, path)
    print(f"{path.relative_to(ROOT)}: {len(chosen)} tables, {len(failed)} failed: {', '.join(failed) or 'none'}")
    sys.exit(bool(failed))


if __name__ == "__main__":
    main()
