"""Where the arrays of a benchmark lie, and what is called on them there."""

from __future__ import annotations

import importlib
import os
from collections.abc import Callable
from dataclasses import fields
from functools import partial
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

import deltatape
from deltatape import Device, Stream
from deltatape.benchmark.copies import Copy
from deltatape.benchmark.timing import Run
from deltatape.verification import case
from deltatape.verification.inputs import dtype_of

Arrays = TypeVar("Arrays")


def of_each(convert: Callable[[Any], Any], arrays: Arrays) -> Arrays:
    """Return a dataclass of arrays with each of them converted."""
    names = [each.name for each in fields(arrays)]  # type: ignore[arg-type]
    return type(arrays)(**{name: convert(getattr(arrays, name)) for name in names})


class Place:
    """Memory that the device and the processor both reach, as numpy arrays.

    Attributes
    ----------
    functions
        The module whose functions take the arrays.
    libraries
        Other libraries that can work here.
    stream_options
        Arguments of `Stream` that make its work be done here.
    """

    functions: Any = deltatape
    libraries: tuple[str, ...] = ("numpy", "scipy", "torch", "mlx")

    def __init__(self, device: Device) -> None:
        self.device = device
        self.stream_options: dict[str, Any] = {}

    def stream(self) -> Stream:
        """Open a stream whose work is done here."""
        return Stream(self.device, **self.stream_options)

    def put(self, array: NDArray[Any]) -> Any:
        """Return the same array here."""
        placed = self.device.empty(array.shape, array.dtype)
        np.copyto(placed, array)
        return placed

    def poisoned(self, shape: tuple[int, ...], dtype: str) -> Any:
        """Return memory for a result, filled with NaN."""
        return case.poisoned(self.device, shape, dtype_of(dtype))

    def read(self, array: Any) -> NDArray[Any]:
        """Return a copy that nothing changes."""
        return np.array(array)

    def finish(self) -> None:
        """Wait for what a stream's wait does not wait for."""

    def copies(self, layers: int, nbytes: int) -> dict[str, Run]:
        """Return the ways to copy: by one thread, which is faster for little, and by all."""
        every = int(self.device.info["threads"]) or os.cpu_count() or 1
        return {f"{count} threads": Copy(layers, nbytes, count) for count in sorted({1, every})}


class Gpu(Place):
    """An NVIDIA GPU's own memory, as torch's tensors."""

    libraries = ("torch", "fla", "mamba_ssm")

    def __init__(self, device: Device) -> None:
        super().__init__(device)
        self.torch = importlib.import_module("torch")
        self.functions = importlib.import_module("deltatape.torch")
        self.stream_options = {"callers": self.torch.cuda.current_stream().cuda_stream}

    def put(self, array: NDArray[Any]) -> Any:
        """Return a tensor of the same bits."""
        bits = array.view(np.int16) if array.dtype.itemsize == 2 else array
        tensor = self.torch.from_numpy(np.ascontiguousarray(bits)).cuda()
        return tensor.view(getattr(self.torch, str(array.dtype)))

    def poisoned(self, shape: tuple[int, ...], dtype: str) -> Any:
        """Return a tensor filled with NaN."""
        return self.torch.full(shape, np.nan, dtype=getattr(self.torch, dtype), device="cuda")

    def read(self, array: Any) -> NDArray[Any]:
        """Return a copy on the processor's side."""
        name = str(array.dtype).removeprefix("torch.")
        bits = array.view(self.torch.int16) if array.itemsize == 2 else array
        copied: NDArray[Any] = bits.cpu().numpy().copy()
        return copied.view(dtype_of(name))

    def finish(self) -> None:
        """Wait for the GPU."""
        self.torch.cuda.synchronize()

    def copies(self, layers: int, nbytes: int) -> dict[str, Run]:
        """Return two ways to copy: each layer by a call of its own, and everything by one."""
        source = self.torch.ones((layers, nbytes // 4), dtype=self.torch.int32, device="cuda")
        target = self.torch.zeros_like(source)
        rows = list(zip(target, source, strict=True))
        return {
            "one copy a layer": partial(self._copy, rows),
            "one copy": partial(self._copy, [(target, source)]),
        }

    def _copy(self, pairs: list[tuple[Any, Any]]) -> None:
        for target, source in pairs:
            target.copy_(source)
        self.finish()


def place_of(device: Device) -> Place:
    """Return where the arrays for a device belong."""
    return Gpu(device) if device.name == "cuda" else Place(device)
