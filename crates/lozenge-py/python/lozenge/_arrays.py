"""Objects as arrays of NumPy: what a call does once, where an array is not as generated code reads it."""

from __future__ import annotations

import numpy

from . import _lozenge


def array(value, name):
    """An array over the memory of `value`: a buffer, or an object with `__dlpack__`."""
    if isinstance(value, (numpy.ndarray, numpy.generic)):
        return numpy.asarray(value)
    if isinstance(value, (list, tuple, str, int, float, complex, bool, type(None), dict, set)):
        kind = type(value).__name__
        raise _lozenge.error(
            "X0207", f"`{name}` is an array, and a {kind} was given", "numpy.asarray makes arrays of lists"
        )
    if hasattr(value, "__dlpack__"):
        try:
            return numpy.from_dlpack(value)
        except (BufferError, RuntimeError, TypeError, ValueError) as error:
            raise _lozenge.error("X0207", f"the array for `{name}` can't be read by NumPy: {error}") from None
    try:
        return numpy.asarray(memoryview(value))
    except (TypeError, ValueError, BufferError):
        kind = type(value).__name__
        raise _lozenge.error(
            "X0207",
            f"`{name}` is an array, and a {kind} was given",
            "arrays are those of NumPy, and objects with a buffer or with __dlpack__",
        ) from None


def fit(value, name, dtype, rank, wanted, written):
    """The array as it is if its layout is that of generated code, else a copy of it."""
    if value.dtype != dtype:
        raise _lozenge.error(
            "X0202",
            f"the array for `{name}` holds {value.dtype} elements, but the parameter is {wanted}",
            f"give `array.astype({str(dtype)!r})`, or an array of that type from the start",
        )
    if value.ndim != rank:
        raise _lozenge.error(
            "X0203",
            f"the array for `{name}` has {value.ndim} dimensions, but the parameter is {wanted}",
        )
    good = value.flags.c_contiguous and value.flags.aligned
    if written:
        if not value.flags.writeable:
            raise _lozenge.error("X0207", f"the array for `{name}` is written, but it is read-only")
        if not good:
            raise _lozenge.error(
                "X0207",
                f"the array for `{name}` is written, but its elements are not in rows without gaps",
                "give an array that is C-contiguous",
            )
        return value
    return value if good else numpy.array(value, dtype=dtype, order="C", copy=True)


def pair(value, name, dtype):
    """A structure of two members in an array without dimensions."""
    try:
        return numpy.array(value, dtype=dtype)
    except (TypeError, ValueError):
        raise _lozenge.error("X0207", f"`{name}` is a pair: give a tuple of two numbers") from None
