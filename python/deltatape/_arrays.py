"""The array policy: which arrays are taken as they are, copied once, or refused.

Inputs are whatever ``np.asarray`` takes, of exactly the named element types. Strided, byte-swapped
and unaligned ones are copied once; read-only ones are fine. Outputs are numpy arrays that C can
write as they are.
"""

from __future__ import annotations

import math
from typing import Any, NoReturn, TypeAlias

import numpy as np
import numpy.typing as npt

from deltatape._native import BFLOAT16
from deltatape.errors import InvalidArgument, UnsupportedDType

Array: TypeAlias = npt.NDArray[Any]
Shape: TypeAlias = tuple[int, ...]
DTypes: TypeAlias = tuple[np.dtype[Any], ...]

F32: DTypes = (np.dtype(np.float32),)
FLOATS: DTypes = (*F32, np.dtype(np.float16), BFLOAT16)
_MASKS = frozenset(map(np.dtype, (np.bool_, np.int8, np.uint8, np.int32, np.uint32)))


class Operation:
    """Judges the arrays of one function; its messages begin with the function's name."""

    def __init__(self, name: str) -> None:
        self.name = name

    def refuse(self, argument: str, expected: str, got: object) -> NoReturn:
        raise InvalidArgument(f"[{self.name}] {argument}: expected {expected}, got {got}")

    def refuse_dtype(self, argument: str, expected: str, got: object) -> NoReturn:
        raise UnsupportedDType(f"[{self.name}] {argument}: expected {expected}, got {got}")

    # ---- Shapes --------------------------------------------------------------------------------

    def sizes(self, argument: str, array: Array, symbols: str) -> Shape:
        """Return the array's shape, if it has as many dimensions as `symbols` ("[B,T,H]")."""
        if array.ndim != symbols.count(",") + 1:
            self.refuse(argument, f"shape {symbols}", array.shape)
        return array.shape

    def shaped(self, argument: str, array: Array, symbols: str, shape: Shape) -> None:
        if array.shape != shape:
            self.refuse(argument, f"shape {symbols} = {shape}", array.shape)

    # ---- Inputs --------------------------------------------------------------------------------

    def view(self, argument: str, value: object, dtypes: DTypes = FLOATS) -> Array:
        """Return the value as an array of one of `dtypes`, of any layout."""
        if value is None:
            self.refuse(argument, "an array", None)
        array = np.asarray(value)
        if array.dtype not in dtypes:
            if array.dtype.newbyteorder("=") not in dtypes:
                self.refuse_dtype(argument, " or ".join(map(str, dtypes)), array.dtype)
            return array.astype(array.dtype.newbyteorder("="))
        return array

    def input(self, argument: str, value: object, dtypes: DTypes = FLOATS) -> Array:
        array = self.view(argument, value, dtypes)
        return array if _packed(array) else array.copy()

    def states(self, argument: str, value: object) -> tuple[Array, int]:
        """Return states [N,H,Dh,Ds] and the elements from one to the next (0 = packed)."""
        array = self.view(argument, value)
        stride = _state_stride(array)
        return (array.copy(), 0) if stride is None else (array, stride)

    def integers(self, argument: str, value: object) -> Array:
        array = np.asarray(value)
        if array.dtype.kind not in "iu":
            self.refuse_dtype(argument, "integers", array.dtype)
        return array

    def indices(self, argument: str, value: object) -> Array:
        """Return integers of any width as packed int32."""
        array = self.integers(argument, value)
        if not np.can_cast(array.dtype, np.int32) and array.size:
            self._require_int32(argument, array.min())
            self._require_int32(argument, array.max())
        array = array.astype(np.int32, copy=False)
        return array if _packed(array) else array.copy()

    def per_sequence(self, argument: str, value: object, batch: int) -> Array:
        """Return one index for each sequence, from [B] or from one for all."""
        array = self.integers(argument, value)
        if array.ndim == 0:
            index = int(array)
            self._require_int32(argument, index)
            return np.array([index] * batch, np.int32)
        if array.shape != (batch,):
            self.refuse(argument, f"an integer or shape [B] = ({batch},)", array.shape)
        return self.indices(argument, array)

    def _require_int32(self, argument: str, index: int) -> None:
        if not -(2**31) <= index < 2**31:
            self.refuse(argument, "an integer of 32 bits", index)

    def mask(self, argument: str, value: object, symbols: str, shape: Shape) -> Array:
        """Return booleans or integers as a mask that C can read; nonzero is active."""
        array = np.asarray(value)
        if array.dtype.kind not in "biu":
            self.refuse_dtype(argument, "bool or integers", array.dtype)
        self.shaped(argument, array, symbols, shape)
        if array.dtype in _MASKS and _packed(array):
            return array
        active: Array = np.not_equal(array, 0, order="C")
        return active

    def flags(self, argument: str, value: object, symbols: str, shape: Shape) -> Array:
        """Return booleans or integers as one byte each."""
        active: Array = self.mask(argument, value, symbols, shape) != 0
        return active.view(np.uint8)

    # ---- Outputs -------------------------------------------------------------------------------

    def _writable(self, argument: str, array: object, dtypes: DTypes) -> Array:
        if not isinstance(array, np.ndarray):
            self.refuse(argument, "a numpy array", type(array).__name__)
        if array.dtype not in dtypes:
            if array.dtype.newbyteorder("=") in dtypes:
                self.refuse(argument, "native byte order", array.dtype.str)
            self.refuse_dtype(argument, " or ".join(map(str, dtypes)), array.dtype)
        if not array.flags.writeable:
            self.refuse(argument, "a writable array", "a read-only one")
        return array

    def output(
        self, argument: str, value: object, symbols: str, shape: Shape, dtypes: DTypes = FLOATS
    ) -> Array:
        array = self._writable(argument, value, dtypes)
        self.shaped(argument, array, symbols, shape)
        if not _packed(array):
            self.refuse(argument, "an aligned C-contiguous array", f"strides {array.strides}")
        return array

    def states_output(self, argument: str, value: object) -> tuple[Array, int]:
        """Return states that are written in place, as `states` does."""
        array = self._writable(argument, value, FLOATS)
        stride = _state_stride(array)
        if stride is None:
            self.refuse(
                argument,
                "states that are each C-contiguous and in order",
                f"strides {array.strides}",
            )
        return array, stride


def _packed(array: Array) -> bool:
    return array.flags.c_contiguous and array.flags.aligned


def _state_stride(array: Array) -> int | None:
    """Return the elements between states, 0 if they are packed, None if C cannot say it."""
    if _packed(array):
        return 0
    if array.ndim == 0 or not array.flags.aligned or not array[0].flags.c_contiguous:
        return None
    stride, rest = divmod(array.strides[0], array.itemsize)
    return stride if rest == 0 and stride >= math.prod(array.shape[1:]) else None
