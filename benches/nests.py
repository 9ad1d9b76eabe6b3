#!/usr/bin/env python3
"""The loop nests of tests/c/nests: which are accepted, whether results are the same, and how fast.

Each file is translated. Original and result run on the same data at several sizes, and must leave
the same bytes in memory. Then both are timed on one thread, with the same flags of gcc. The table
goes to the standard output, and with --write to docs/c-nests.md.
"""

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
import textwrap
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
NESTS = ROOT / "tests/c/nests"
PAGE = ROOT / "docs/c-nests.md"
SAME = ["-std=gnu11", "-w", "-ffp-contract=off", "-fopenmp"]
# Who calls a nest is in another file: nothing is known of what is given to it.
ALONE = ["-fno-ipa-cp", "-fno-ipa-sra", "-fno-inline-functions", "-fno-inline-small-functions"]
FAST = ["-O3", "-march=native", *ALONE, "-fno-inline-functions-called-once"]
# The result runs at all sizes, also where the text would on one thread or with little work.
ALWAYS = ["-DLOZENGE_PAYS(work)=1", "-DLOZENGE_ENOUGH(work)=1"]
# What is told of a region that is taken.
TAKEN = {"C0501", "C0502", "C0503", "C0505", "C0504", "P0002"}


def areas():
    return sorted(path for path in NESTS.glob("*.c") if path.name != "driver.c")


def regions(path):
    """Name and lines of the region of each nest."""
    found, first, last = [], 0, 0
    for number, line in enumerate(path.read_text().splitlines(), 1):
        if line.startswith("#pragma scop"):
            first = number
        elif line.startswith("#pragma endscop"):
            last = number
        elif named := re.match(r"(?:RUN|GLOBAL)\((\w+), ", line):
            found.append((named[1], first, last))
    return found


def translated(lozenge, path, folder):
    """What became of each nest of a file, and why not more."""
    out = folder / path.name
    line = [lozenge, "compile", str(path), "--json", "-o", str(out)]
    ran = subprocess.run(line, capture_output=True, text=True)
    if ran.returncode != 0:
        sys.exit(f"{path.name}: {ran.stdout}{ran.stderr}")
    said = json.loads(ran.stdout)["diagnostics"]
    text = out.read_text()
    states = {}
    for name, first, last in regions(path):
        own = [d for d in said if d["labels"] and first <= d["labels"][0].get("line", 0) <= last]
        refused = [d for d in own if d["code"] not in TAKEN]
        kept = [d for d in own if d["code"] in {"C0505", "C0504", "P0002"}]
        if refused:
            marks = re.findall(r"/\* scop: lines (\d+) to (\d+) ", text)
            some = any(first < int(a) and int(b) < last for a, b in marks)
            states[name] = ("in part" if some else "refused", f"{refused[0]['code']}: {refused[0]['message']}")
        elif f"/* scop: lines {first} to {last} " in text:
            states[name] = ("translated", "")
        elif kept:
            states[name] = ("kept", "")
        else:
            states[name] = ("refused", "nothing is said")
    return states


def built(compiler, flags, sources, program, folder):
    line = [compiler, *SAME, *flags, f"-I{NESTS}", f"-I{folder}", "-o", str(program)]
    line += [str(NESTS / "driver.c"), *map(str, sources), "-lm"]
    ran = subprocess.run(line, capture_output=True, text=True)
    if ran.returncode != 0:
        sys.exit(f"{' '.join(line)}\n{ran.stderr[:4000]}")
    return program


def printed(program, *arguments, threads):
    env = dict(os.environ, OMP_NUM_THREADS=str(threads))
    ran = subprocess.run([program, *arguments], capture_output=True, text=True, env=env, timeout=600)
    if ran.returncode != 0:
        sys.exit(f"{program} ends with {ran.returncode} after {ran.stdout.splitlines()[-1:]}")
    return ran.stdout.splitlines()


def compared(folder, only):
    """Names of nests that leave other bytes than their originals."""
    wrong = set()
    for compiler in ["gcc", "clang-16"]:
        with ThreadPoolExecutor(2) as pool:
            made = pool.map(
                lambda of: built(compiler, ["-O2", *ALWAYS], of[1], folder / of[0], folder),
                [("original", areas()), ("ours", [folder / path.name for path in areas()])],
            )
            original, ours = made
        expected = printed(original, threads=2)
        got = printed(ours, threads=2)
        for a, b in zip(expected, got, strict=True):
            if a != b:
                wrong.add(a.split()[0])
    return wrong


def times(folder, rounds):
    """The least time of each nest, original and ours, in microseconds; the programs take turns."""
    programs = {
        "original": built("gcc", FAST, areas(), folder / "original", folder),
        "ours": built("gcc", FAST, [folder / path.name for path in areas()], folder / "ours", folder),
    }
    best = {kind: {} for kind in programs}
    for _ in range(rounds):
        for kind, program in programs.items():
            for line in printed(program, "times", threads=1):
                name, took = line.split()
                best[kind][name] = min(best[kind].get(name, 1e30), float(took))
    return best


def table(states, wrong, best):
    rows = ["| nest | area | result | gcc -O3, µs | ours, µs | ratio | why |", "| --- | --- | --- | --: | --: | --: | --- |"]
    for path in areas():
        for name, *_ in regions(path):
            state, why = states[name]
            if name in wrong:
                state = "WRONG"
            row = [name, path.stem, state]
            if best:
                a, b = best["original"][name], best["ours"][name]
                row += [f"{a:.1f}", f"{b:.1f}", f"{a / max(b, 1e-9):.2f}"]
            else:
                row += ["", "", ""]
            rows.append("| " + " | ".join([*row, why.replace("|", "\\|")]) + " |")
    return rows


def summary(states, wrong, best):
    part = sum(state == "in part" for state, _ in states.values())
    refused = sum(state == "refused" for state, _ in states.values()) + part
    kept = sum(state == "kept" for state, _ in states.values())
    lines = [
        f"{len(states)} nests: {len(states) - refused} accepted ({100 * (len(states) - refused) / len(states):.0f} %),"
        f" {refused} refused, {len(wrong)} wrong. Loops in {part} of those refused are translated. Of those accepted, {kept} keep their text, since nothing is"
        " predicted to be faster."
    ]
    if best:
        ratios = {name: best["original"][name] / max(best["ours"][name], 1e-9) for name in states}
        slow = [name for name, ratio in ratios.items() if ratio < 1 / 1.05]
        fast = [name for name, ratio in ratios.items() if ratio > 1.05]
        lines.append(
            f"On one thread {len(fast)} are more than 5 % faster than `gcc -O3`, and {len(slow)} more than 5 % slower."
        )
        same = [name for name, (state, _) in states.items() if state in {"kept", "refused"}]
        noise = sum(name in slow or name in fast for name in same)
        lines.append(
            f"Of the {len(same)} whose text is the original, {noise} differ by more than 5 % as well: so much"
            " depends on where code and data lie in memory."
        )
    return lines


HEAD = """# Loop nests of real codes

This page is for those who want to know which C is taken. It is written by `./x nests`. The nests of
`tests/c/nests` are written as real codes are: kernels of machine learning with pointers to rows,
solvers with `double ***`, filters of images, dynamic programs, sparse products, transforms of
signals, time steps over two buffers. Nothing in them was changed to be accepted; a pragma stands
around each. *Ratio* is the time of `gcc -O3` over ours, on one thread: above 1 ours is faster. Both
are compiled with `-O3 -march=native -ffp-contract=off`, and sizes are small: most arrays stay in
the caches. Of a nest that is refused, *in part* says that loops in it are translated all the same.
"""


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--lozenge", default=str(ROOT / "target/release/lozenge"))
    parser.add_argument("--rounds", type=int, default=3, help="times that both programs are run; 0 for no times")
    parser.add_argument("--write", action="store_true", help="write docs/c-nests.md")
    parser.add_argument("--refused", action="store_true", help="print what is refused or wrong only")
    parser.add_argument("--keep", help="folder that the results stay in")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(options.keep or scratch)
        folder.mkdir(exist_ok=True)
        names = [name for path in areas() for name, *_ in regions(path)]
        (folder / "list.h").write_text("".join(f"NEST({name})\n" for name in names))
        with ThreadPoolExecutor(2) as pool:
            states = {}
            for one in pool.map(lambda path: translated(options.lozenge, path, folder), areas()):
                states |= one
        wrong = compared(folder, names)
        best = times(folder, options.rounds) if options.rounds else {}
        rows, lines = table(states, wrong, best), summary(states, wrong, best)
    if options.refused:
        rows = [row for row in rows if "| refused" in row or "| in part" in row or "WRONG" in row]
    print("\n".join([*rows, "", *lines]))
    if options.write:
        told = "\n\n".join(textwrap.fill(line, 98) for line in lines)
        PAGE.write_text(HEAD + "\n" + told + "\n\n" + "\n".join(rows) + "\n")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
