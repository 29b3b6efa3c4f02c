"""Where a call's results go: the caller's array, or a new one in the device's memory."""

from __future__ import annotations

from typing import Any

from deltatape._arrays import FLOATS, Array, DTypes, Operation, Shape
from deltatape._devices import Stream


def result(
    operation: Operation,
    stream: Stream,
    name: str,
    out: Any,
    symbols: str,
    shape: Shape,
    dtypes: DTypes = FLOATS,
) -> Array:
    """Return `out` if it can be written as it is; None is a new array of the first dtype."""
    if out is None:
        return stream._empty(shape, dtypes[0])
    return operation.output(name, out, symbols, shape, dtypes)
