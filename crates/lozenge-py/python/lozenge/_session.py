"""ONNX models, called as onnxruntime calls them."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy

from . import _arrays, _lozenge

# Numbers of the format, with the name of the type there and here; NumPy itself lacks some of them.
_TYPES = {
    1: ("float", "float32"),
    2: ("uint8", "uint8"),
    3: ("int8", "int8"),
    4: ("uint16", "uint16"),
    5: ("int16", "int16"),
    6: ("int32", "int32"),
    7: ("int64", "int64"),
    8: ("string", None),
    9: ("bool", "bool"),
    10: ("float16", "float16"),
    11: ("double", "float64"),
    12: ("uint32", "uint32"),
    13: ("uint64", "uint64"),
    16: ("bfloat16", "ml_dtypes.bfloat16"),
    17: ("float8e4m3fn", "ml_dtypes.float8_e4m3fn"),
    18: ("float8e4m3fnuz", "ml_dtypes.float8_e4m3fnuz"),
    19: ("float8e5m2", "ml_dtypes.float8_e5m2"),
    20: ("float8e5m2fnuz", "ml_dtypes.float8_e5m2fnuz"),
    21: ("uint4", "ml_dtypes.uint4"),
    22: ("int4", "ml_dtypes.int4"),
}


class NodeArg(NamedTuple):
    """An input or output of a model; an extent is a number, a name, or None."""

    name: str
    type: str
    shape: list


class _Port:
    """An input or output, with the type that its arrays have and the one in which they are handed over."""

    def __init__(self, described):
        self.name, code, shape, self.carrier = described
        word, self._dtype = _TYPES.get(code, (f"element{code}", None))
        self.node = NodeArg(self.name, f"tensor({word})", list(shape) if shape is not None else [])

    def dtype(self):
        if self._dtype is None or self.carrier is None:
            raise _lozenge.error("X0202", f"`{self.name}` is {self.node.type}, which has no type in NumPy")
        module, _, name = self._dtype.rpartition(".")
        if not module:
            return numpy.dtype(name)
        try:
            import ml_dtypes
        except ImportError:
            raise _lozenge.error(
                "X0202", f"`{self.name}` is {self.node.type}", "install ml_dtypes, which has that type"
            ) from None
        return numpy.dtype(getattr(ml_dtypes, name))

    def inward(self, value):
        array = _arrays.array(value, self.name)
        dtype = self.dtype()
        if array.dtype != dtype:
            raise _lozenge.error(
                "X0202",
                f"the array for `{self.name}` holds {array.dtype}, and the input is {self.node.type}",
                f"give `array.astype({str(dtype)!r})`",
            )
        good = array.flags.c_contiguous and array.flags.aligned and array.dtype == self.carrier
        if not good:
            array = numpy.array(array, dtype=self.carrier, order="C", copy=True)
        if array.dtype == numpy.bool_ and array.view(numpy.uint8).max(initial=0) > 1:
            raise _lozenge.error(
                "X0205",
                f"the array for `{self.name}` holds bytes that are no truth values",
                "give `array != 0`",
            )
        return array

    def outward(self, array):
        return array.astype(self.dtype(), copy=False)


class Session:
    """A model that is ready to run.

    `model` is the path of a file, the bytes of one, or an `onnx.ModelProto`. It is compiled when
    it first runs on inputs of certain shapes; what was compiled is kept in `cache_folder()`.
    """

    def __init__(self, model, *, threads: int | None = None, exact: bool = False):
        source, _ = as_source(model)
        self._model = _lozenge.Model(source, exact, threads or 0)
        inputs = [(_Port(port), default) for port, default in self._model.describe_inputs()]
        self._inputs = {port.name: port for port, _ in inputs}
        self._needed = [port.name for port, default in inputs if not default]
        self._outputs = [_Port(port) for port in self._model.describe_outputs()]

    def get_inputs(self) -> list[NodeArg]:
        """The inputs that have to be given."""
        return [self._inputs[name].node for name in self._needed]

    def get_overridable_initializers(self) -> list[NodeArg]:
        """The inputs that have a value of their own."""
        return [port.node for name, port in self._inputs.items() if name not in self._needed]

    def get_outputs(self) -> list[NodeArg]:
        """The outputs."""
        return [port.node for port in self._outputs]

    def run(self, output_names: Sequence[str] | None, input_feed: Mapping[str, object], run_options=None):
        """The outputs with these names, or all, for arrays by the names of inputs."""
        del run_options
        known = [port.name for port in self._outputs]
        for name in output_names or ():
            if name not in known:
                raise _lozenge.error(
                    "X0204", f"the model has no output `{name}`", f"its outputs are {', '.join(known)}"
                )
        feeds = {}
        for name, value in input_feed.items():
            if name not in self._inputs:
                names = ", ".join(self._inputs) or "none"
                raise _lozenge.error("X0204", f"the model has no input `{name}`", f"its inputs are {names}")
            feeds[name] = self._inputs[name].inward(value)
        for name in self._needed:
            if name not in feeds:
                raise _lozenge.error("X0204", f"the input `{name}` is not given")
        found = dict(zip(known, self._model.run(feeds), strict=True))
        wanted = output_names or known
        ports = {port.name: port for port in self._outputs}
        return [ports[name].outward(found[name]) for name in wanted]

    @property
    def name(self) -> str:
        """The name of the model's graph."""
        return self._model.name


class ModelFunction:
    """A model as a function of its inputs."""

    def __init__(self, session: Session):
        self.session = session
        self.__name__ = self.__qualname__ = session.name or "model"
        needed = [node.name for node in session.get_inputs()]
        lines = [f"{self.__name__}({', '.join([*needed, '*', 'out=None'])})", ""]
        for title, nodes in (("Inputs", session.get_inputs()), ("Outputs", session.get_outputs())):
            lines.append(f"{title}:")
            lines += [f"    {node.name}: {node.type}, shape {node.shape}" for node in nodes]
        self.__doc__ = "\n".join(lines) + "\n"

    def __call__(self, *values, out=None, **feeds):
        names = [node.name for node in self.session.get_inputs()]
        if len(values) > len(names):
            raise TypeError(f"{self.__name__}() takes {len(names)} arguments, and {len(values)} were given")
        for name, value in zip(names, values, strict=False):
            if name in feeds:
                raise TypeError(f"{self.__name__}() got several values for `{name}`")
            feeds[name] = value
        results = self.session.run(None, feeds)
        if out is not None:
            places = out if isinstance(out, (tuple, list)) else (out,)
            if len(places) != len(results):
                raise TypeError(
                    f"{self.__name__}() has {len(results)} results, and `out` has {len(places)} arrays"
                )
            for place, result in zip(places, results, strict=True):
                if place.shape != result.shape or place.dtype != result.dtype:
                    raise _lozenge.error(
                        "X0203",
                        f"`out` is {place.dtype} {place.shape}, and the result {result.dtype} {result.shape}",
                    )
            for place, result in zip(places, results, strict=True):
                place[...] = result
            results = list(places)
        return results[0] if len(results) == 1 else tuple(results)

    def __repr__(self):
        return f"<lozenge model {self.__name__}>"


def as_source(model):
    """What the compiler reads, and how to give back a model of the same kind."""
    if isinstance(model, (bytes, bytearray, memoryview)):
        return bytes(model), bytes
    if isinstance(model, (str, os.PathLike)):
        return os.fspath(model), bytes
    if hasattr(model, "SerializeToString"):
        return model.SerializeToString(), type(model).FromString
    kind = type(model).__name__
    raise _lozenge.error("X0207", f"a model is a path, bytes or an onnx.ModelProto, and a {kind} was given")


def optimize(model, output: str | os.PathLike[str] | None = None):
    """Rewrites a model by the rules that ship, and returns it as it was given: bytes, or a ModelProto.

    Of a path come bytes; with `output`, the file is written (with its external data beside it),
    and its path returned.
    """
    source, back = as_source(model)
    if output is not None:
        _lozenge.optimize(source, os.fspath(output))
        return output
    return back(_lozenge.optimize(source, None))
