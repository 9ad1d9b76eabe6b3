"""The cell magic `%%lozenge`: `%load_ext lozenge`, then a cell with a program.

    %%lozenge
    def dot [n] {t: num} (xs ys: [n]t): t = zip xs ys |> reduceSeq (\\(x, y) a -> a + x * y) 0

Each definition becomes a function with its name; with `--as NAME` one object has them. The other
options are those of `load`: `--exact`, `--reassociate`, `--threads N`, `--strategy TEXT`,
`--schedule TEXT`, `--language loz|c|loops`.
"""

from __future__ import annotations

import argparse
import shlex

from ._module import load


class _Parser(argparse.ArgumentParser):
    """Says what is wrong, and leaves the interpreter alone."""

    def error(self, message):
        raise ValueError(f"%%lozenge: {message}")


def _parser():
    parser = _Parser(prog="%%lozenge", add_help=False)
    parser.add_argument("--exact", action="store_true")
    parser.add_argument("--reassociate", action="store_true")
    parser.add_argument("--threads", type=int)
    parser.add_argument("--strategy")
    parser.add_argument("--schedule")
    parser.add_argument("--language", choices=["loz", "c", "loops"])
    parser.add_argument("--as", dest="name")
    return parser


def run_cell(line: str, cell: str, namespace: dict) -> str:
    """Loads a cell into a namespace, and says what is there now."""
    options = vars(_parser().parse_args(shlex.split(line)))
    name = options.pop("name")
    # A line end makes a text of a cell, whatever it looks like.
    module = load(cell + "\n", **options)
    if name:
        namespace[name] = module
    else:
        namespace.update({key: module[key] for key in module})
    return ", ".join([name] if name else module)


def register(ipython) -> None:
    """What `%load_ext lozenge` does."""

    def lozenge(line, cell):
        print("defined:", run_cell(line, cell, ipython.user_ns))

    lozenge.__doc__ = __doc__
    ipython.register_magic_function(lozenge, magic_kind="cell")
