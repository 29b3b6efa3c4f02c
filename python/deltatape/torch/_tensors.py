"""Tensors as numpy arrays that describe them: element type, shape, strides and address.

The array policy judges arrays by these alone, and so do C's arguments: nobody reads elements of a
description, which may lie on a GPU.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from deltatape._arrays import Array, Operation, _state_stride
from deltatape._native import BFLOAT16

_DTYPES: dict[torch.dtype, np.dtype[Any]] = {
    torch.bfloat16: BFLOAT16,
    torch.float16: np.dtype(np.float16),
    torch.float32: np.dtype(np.float32),
    torch.float64: np.dtype(np.float64),
    torch.bool: np.dtype(np.bool_),
    torch.int8: np.dtype(np.int8),
    torch.uint8: np.dtype(np.uint8),
    torch.int16: np.dtype(np.int16),
    torch.int32: np.dtype(np.int32),
    torch.int64: np.dtype(np.int64),
}
_TORCH_DTYPES = {dtype: name for name, dtype in _DTYPES.items()}
# Asked for here once: numpy makes a new one each time.
_TYPESTRS = {name: dtype.str for name, dtype in _DTYPES.items()}


def torch_dtype(dtype: np.dtype[Any]) -> torch.dtype:
    return _TORCH_DTYPES[dtype]


def numpy_dtype(operation: Operation, argument: str, dtype: object) -> np.dtype[Any]:
    if not isinstance(dtype, torch.dtype):
        operation.refuse_dtype(argument, "a torch.dtype", dtype)
    if dtype not in _DTYPES:
        operation.refuse_dtype(argument, "float32 or float16 or bfloat16", dtype)
    return _DTYPES[dtype]


class _Memory:
    """What numpy asks for; arrays made of it keep the tensor alive."""

    __slots__ = ("__array_interface__", "tensor")

    def __init__(self, tensor: torch.Tensor, dtype: np.dtype[Any]) -> None:
        self.tensor = tensor
        self.__array_interface__ = {
            "version": 3,
            "shape": tensor.shape,
            "typestr": _TYPESTRS[tensor.dtype],
            "data": (tensor.data_ptr(), False),
        }
        if not tensor.is_contiguous():
            gaps = tuple(stride * dtype.itemsize for stride in tensor.stride())
            self.__array_interface__["strides"] = gaps


class Tensors:
    """The tensors of one call, and the arrays that stand for them."""

    def __init__(self, operation: Operation, device: torch.device) -> None:
        self.operation = operation
        self.device = device
        self._arrays: dict[int, Array] = {}
        self._tensors: dict[int, tuple[Array, torch.Tensor]] = {}

    def described(self, argument: str, tensor: Any) -> Array:
        """Return the array that stands for a tensor, the same one each time."""
        if id(tensor) not in self._arrays:
            self._require(argument, tensor)
            self._keep(tensor, self._describe(argument, tensor))
        return self._arrays[id(tensor)]

    def input(self, argument: str, tensor: Any) -> Any:
        """Return the array of a tensor that is read; one with gaps is copied once."""
        if tensor is None or id(tensor) in self._arrays:
            return None if tensor is None else self._arrays[id(tensor)]
        self._require(argument, tensor)
        return self._keep(tensor, self._describe(argument, tensor.contiguous()))

    def states(self, argument: str, tensor: Any, *, written: bool) -> Any:
        """Return the array of states, which may lie apart."""
        if tensor is None:
            return None
        array = self.described(argument, tensor)
        if written or _state_stride(array) is not None:
            return array
        return self._keep(tensor, self._describe(argument, tensor.contiguous()))

    def mask(self, argument: str, tensor: Any) -> Array | None:
        if tensor is None:
            return None
        self._require(argument, tensor)
        whole = not tensor.is_floating_point() and tensor.element_size() in (2, 8)
        active = tensor.ne(0) if whole else tensor
        return self._describe(argument, active.contiguous())

    def made(self, shape: tuple[int, ...], dtype: np.dtype[Any]) -> Array:
        """Return the array of a new tensor."""
        tensor = torch.empty(shape, dtype=torch_dtype(dtype), device=self.device)
        return self._keep(tensor, self._describe("out", tensor))

    def tensor(self, array: Any) -> Any:
        """Return the tensor that an array stands for, or the part of it that a view does."""
        if array is None:
            return None
        whole, tensor = self._tensors[id(_owner(array))]
        if array is whole:
            return tensor
        start = (array.ctypes.data - whole.ctypes.data) // whole.itemsize
        return tensor.flatten()[start : start + array.size].view(array.shape)

    def _keep(self, tensor: torch.Tensor, array: Array) -> Array:
        self._arrays[id(tensor)] = array
        self._tensors[id(_owner(array))] = array, tensor
        return array

    def _require(self, argument: str, tensor: Any) -> None:
        if not isinstance(tensor, torch.Tensor):
            self.operation.refuse(argument, "a torch.Tensor", type(tensor).__name__)
        if tensor.device != self.device:
            self.operation.refuse(argument, f"a tensor on {self.device}", f"one on {tensor.device}")

    def _describe(self, argument: str, tensor: torch.Tensor) -> Array:
        dtype = _DTYPES.get(tensor.dtype)
        if dtype is None or tensor.layout != torch.strided:
            self.operation.refuse_dtype(argument, "a dense tensor of floats", tensor.dtype)
        described = np.asarray(_Memory(tensor, dtype))
        return described if described.dtype == dtype else described.view(dtype)


def _owner(array: Array) -> Array:
    """Return the array that numpy made of a tensor, of which others are views."""
    return array if array.base is None or not isinstance(array.base, np.ndarray) else array.base


def host(values: Any) -> Any:
    """Return values that the processor reads at once, off a GPU if need be."""
    return values.detach().cpu().numpy() if isinstance(values, torch.Tensor) else values
