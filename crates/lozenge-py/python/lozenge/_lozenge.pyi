"""The extension module: what is called often, and what the compiler does."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy

__version__: str

class Function:
    """A compiled definition. `help` shows its parameters and results with their shapes."""

    threads: int
    """Threads of a call; 0 is OpenMP's own choice."""
    @property
    def __name__(self) -> str: ...
    @property
    def __qualname__(self) -> str: ...
    def __call__(self, *args: Any, out: Any = None, **keywords: Any) -> Any:
        """Arrays and numbers by position or name, sizes by name where shapes do not tell them.

        The results are new arrays, or those given as `out`: one, or a tuple of one for each result.
        Of C, arrays are changed in place, and numbers that change are returned.
        """

    def compile(self) -> None:
        """Compiles it now; else the first call does."""

    def _describe(self) -> dict[str, Any]: ...

class Model:
    def __new__(cls, model: str | bytes, exact: bool, threads: int) -> Model: ...
    @property
    def name(self) -> str: ...
    def describe_inputs(self) -> list[tuple[Any, bool]]: ...
    def describe_outputs(self) -> list[Any]: ...
    def run(self, feeds: Mapping[str, numpy.ndarray]) -> list[numpy.ndarray]: ...

def load(source: str, kind: str | None, wishes: dict[str, Any]) -> list[tuple[str, str, Function]]: ...
def optimize(model: str | bytes, output: str | None) -> bytes | None: ...
def error(code: str, message: str, help: str | None = None) -> Exception: ...
def cache_folder() -> Path | None: ...
def forked() -> None: ...
