"""Lozenge: matrix programs, C loop nests and ONNX models to fast parallel C, called on NumPy arrays.

import lozenge, numpy
m = lozenge.load("products.loz")
c = m.dproduct_fast(numpy.ones((4, 5)), numpy.ones((5, 6)))
"""

from __future__ import annotations

import os

from . import _lozenge
from ._errors import Error
from ._lozenge import Function
from ._module import Module, load
from ._session import NodeArg, Session, optimize

__version__ = _lozenge.__version__

__all__ = ["Error", "Function", "Module", "NodeArg", "Session", "cache_folder", "load", "optimize"]

cache_folder = _lozenge.cache_folder

# Threads of OpenMP do not come along when a process is forked: there calls run on one thread.
os.register_at_fork(after_in_child=_lozenge.forked)


def load_ipython_extension(ipython) -> None:
    """`%load_ext lozenge`: the cell magic `%%lozenge`."""
    from . import magic

    magic.register(ipython)
