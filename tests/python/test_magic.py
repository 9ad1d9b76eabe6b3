"""The cell magic, without a notebook."""

import numpy as np
import pytest

from lozenge import magic

CELL = "def twice [n] (xs: [n]i64): [n]i64 = mapPar (\\x -> x + x) xs\n"


def test_a_cell_defines_functions():
    names = {}
    assert magic.run_cell("", CELL, names) == "twice"
    assert np.array_equal(names["twice"](np.arange(3)), [0, 2, 4])
    assert magic.run_cell("--as m --exact --threads 1", CELL, names) == "m"
    assert np.array_equal(names["m"].twice(np.arange(3)), [0, 2, 4])


def test_a_cell_is_a_text_even_if_it_is_one_line():
    names = {}
    magic.run_cell("", CELL.rstrip("\n"), names)
    assert "twice" in names


def test_wrong_options_are_told():
    with pytest.raises(ValueError, match="--nonsense"):
        magic.run_cell("--nonsense", CELL, {})


def test_it_is_registered():
    class Shell:
        def __init__(self):
            self.user_ns, self.magics = {}, {}

        def register_magic_function(self, function, magic_kind):
            self.magics[function.__name__] = (function, magic_kind)

    import lozenge

    shell = Shell()
    lozenge.load_ipython_extension(shell)
    function, kind = shell.magics["lozenge"]
    assert kind == "cell"
    function("", CELL)
    assert "twice" in shell.user_ns
