"""Sources as objects with a function for each definition."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence

from . import _lozenge
from ._session import ModelFunction, Session

_KINDS = ("loz", "c", "loops")
_MODELS = ("onnx", "graph")
# A function of C: a type, a name, parameters and a brace.
_C_FUNCTION = re.compile(r"^[ \t]*(?:\w+[ \t]+)+\w+\s*\([^;{}=]*\)\s*\{", re.MULTILINE)


class Module:
    """The functions of a source: attributes by their names, or `module["name"]`."""

    def __init__(self, name: str, functions: dict):
        self._name = name
        self._functions = functions
        self.__dict__.update({key: value for key, value in functions.items() if not hasattr(Module, key)})

    def __getitem__(self, name: str):
        return self._functions[name]

    def __iter__(self) -> Iterator[str]:
        return iter(dict.fromkeys(self._functions))

    def __len__(self) -> int:
        return len(self._functions)

    def __contains__(self, name: object) -> bool:
        return name in self._functions

    def __getattr__(self, name: str):
        # Only what is not there comes here.
        known = ", ".join(self.__dict__.get("_functions", ())) or "none"
        raise AttributeError(f"there is no function `{name}`; the functions are {known}", name=name, obj=self)

    def __dir__(self):
        return list(self._functions)

    def __repr__(self) -> str:
        return f"<lozenge module {self._name}: {', '.join(self._functions)}>"


def _is_text(source: str) -> bool:
    return "\n" in source or not (os.path.exists(source) or _extension(source) in _KINDS + _MODELS)


def _extension(path: str) -> str:
    return os.path.splitext(path)[1].removeprefix(".")


def _model(model, threads, exact) -> Module:
    function = ModelFunction(Session(model, threads=threads, exact=exact))
    name = function.__name__
    return Module(name, {name: function, "model": function})


def _kind(text: str, language: str | None) -> str:
    if language is None:
        return "c" if "#pragma scop" in text or _C_FUNCTION.search(text) else "loz"
    if language not in _KINDS:
        raise _lozenge.error("X0009", f"`{language}` is no language", f"languages are {', '.join(_KINDS)}")
    return language


def load(
    source: str | os.PathLike[str] | bytes,
    *,
    language: str | None = None,
    threads: int | None = None,
    exact: bool = False,
    checked: bool = True,
    strategy: str | None = None,
    schedule: str | None = None,
    reassociate: bool = False,
    types: Mapping[str, str] | None = None,
    defines: Mapping[str, object] | Sequence[str] = (),
    includes: Sequence[str | os.PathLike[str]] = (),
) -> Module:
    """Reads a program and returns an object with a function for each of its definitions.

    `source` is the path of a file (`.loz`, `.c`, `.loops`), or a text, whose language is C if it
    has a marked region or a function, and else the functional one; `language` says which. Of C
    without a marked region, each function is one here. A model (`.onnx`, its
    bytes, or an `onnx.ModelProto`) is one function, `model`. Each function is compiled when it is
    first called, and what was compiled once is kept in `cache_folder()`.

    `threads`: threads of a call; OpenMP's own choice unless it is given.
    `exact`: no fused products and sums, so that results are those of the source to the last bit.
    `checked`: of C, look whether subscripts stay inside of the arrays, before it runs.
    `strategy`, `schedule`, `reassociate`, `types`: as the options of the command `lozenge`.
    `defines`, `includes`: macros and folders of headers for C.
    """
    if not isinstance(source, (str, os.PathLike)):
        return _model(source, threads, exact)
    text = source if isinstance(source, str) and _is_text(source) else None
    macros = [f"{k}={v}" for k, v in defines.items()] if isinstance(defines, Mapping) else list(defines)
    wishes = {
        "threads": threads or 0,
        "exact": exact,
        "checked": checked,
        "strategy": strategy,
        "schedule": schedule,
        "reassociate": reassociate,
        "types": list((types or {}).items()),
        "defines": macros,
        "includes": [os.fspath(folder) for folder in includes],
    }
    if text is None and _extension(os.fspath(source)) in _MODELS:
        return _model(source, threads, exact)
    if text is not None:
        found = _lozenge.load(text, _kind(text, language), wishes)
        name = "<text>"
    else:
        name = os.fspath(source)
        found = _lozenge.load(name, None, wishes)
    functions = {}
    for known, definition, function in found:
        functions[known] = function
        functions.setdefault(definition, function)
    return Module(name, functions)
