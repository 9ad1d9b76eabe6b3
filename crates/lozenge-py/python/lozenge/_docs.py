"""What `help` shows of a function."""

from __future__ import annotations

import inspect


def _shape(dims):
    return "(" + ", ".join(dims) + ("," if len(dims) == 1 else "") + ")"


def _line(parameter):
    name, dtype, own, dims, written = parameter
    kind = f"{own} (default {dtype})" if own else dtype
    what = f"array of {kind}, shape {_shape(dims)}" if dims else f"number, {kind}"
    return f"    {name}: {what}" + (", changed in place" if written and dims else "")


def doc(function):
    """Parameters and results with their shapes."""
    told = function._describe()
    names = [p[0] for p in told["parameters"]]
    keywords = ["out=None"] if told["results"] else []
    keywords += [f"{size}=..." for size in told["sizes"]]
    star = ["*"] if keywords else []
    results = ", ".join(p[0] for p in told["results"]) or "None"
    lines = [f"{told['name']}({', '.join(names + star + keywords)}) -> {results}", ""]
    if told["comment"]:
        lines += [told["comment"], ""]
    if names:
        lines += ["Parameters:", *map(_line, told["parameters"]), ""]
    if told["results"]:
        lines += ["Results:", *map(_line, told["results"]), ""]
    if told["sizes"]:
        lines.append(f"Sizes, which follow from shapes: {', '.join(told['sizes'])}")
    if told["assumptions"]:
        lines.append(f"Required: {', '.join(told['assumptions'])}")
    return "\n".join(lines).rstrip() + "\n"


def signature(function):
    """The parameters by their names."""
    told = function._describe()
    kind = inspect.Parameter
    parameters = [kind(p[0], kind.POSITIONAL_OR_KEYWORD) for p in told["parameters"]]
    known = {p[0] for p in told["parameters"]}
    keywords = (["out"] if told["results"] else []) + list(told["sizes"])
    parameters += [kind(name, kind.KEYWORD_ONLY, default=None) for name in keywords if name not in known]
    return inspect.Signature(parameters)
