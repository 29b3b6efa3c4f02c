"""Where calls on tensors run."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
import torch

from deltatape._arrays import Array, Operation
from deltatape._devices import Device, Stream
from deltatape._native import Fields, Kernel
from deltatape.torch._tensors import Tensors

_STREAM = Operation("stream")


class _Devices:
    """The devices that tensors lie on, opened at first use."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._opened: dict[str, Device] = {}

    def get(self, name: str) -> Device:
        with self._lock:
            if name not in self._opened:
                self._opened[name] = Device(name)
            return self._opened[name]


_DEVICES = _Devices()
_THREADS = threading.local()


def stream(device: torch.device | str | int | None = None) -> Stream:
    """Open a stream whose calls go to torch's current stream of a GPU.

    Small calls are held back until `wait`, so that several become one launch: the rollback of all
    of a model's layers. `wait` returns when everything is in torch's stream, and waits for nothing.

    Parameters
    ----------
    device
        The GPU, as `torch.cuda.current_stream` takes it; None is torch's current one.

    Returns
    -------
    Stream
        For the functions' argument of that name.
    """
    current = torch.cuda.current_stream(device)
    with torch.cuda.device(current.device):
        return Stream(_DEVICES.get("cuda"), callers=current.cuda_stream)


def _waiting(device: torch.device) -> Stream:
    """Return the thread's stream that waits after each call: on a GPU, torch's current one."""
    current = torch.cuda.current_stream(device) if device.type == "cuda" else None
    key = None if current is None else (device.index, current.cuda_stream)
    streams: dict[Any, Stream] = _THREADS.__dict__.setdefault("streams", {})
    if key not in streams:
        if current is None:
            streams[key] = Stream(_DEVICES.get("cpu"), waits=True)
        else:
            with torch.cuda.device(device):
                opened = _DEVICES.get("cuda")
                streams[key] = Stream(opened, waits=True, callers=current.cuda_stream)
    return streams[key]


class TensorStream(Stream):
    """Another stream, for one call whose results are tensors."""

    def __init__(self, tensors: Tensors, given: Stream | None) -> None:
        self._tensors = tensors
        device = tensors.device
        if given is not None and not isinstance(given, Stream):
            _STREAM.refuse("stream", "a deltatape.Stream or None", type(given).__name__)
        if given is not None and device.type == "cuda" and given._device_name != "cuda":
            _STREAM.refuse("stream", f"one on cuda for tensors on {device}", given._device_name)
        self._inner = _waiting(device) if given is None else given

    def _empty(self, shape: tuple[int, ...], dtype: np.dtype[Any]) -> Array:
        return self._tensors.made(shape, dtype)

    def _run(self, kernel: Kernel, fields: Fields) -> None:
        self._inner._run(kernel, fields)


def call_on(
    operation: Operation, argument: str, tensor: Any, given: Stream | None
) -> tuple[Tensors, TensorStream]:
    """Return what stands for a call's tensors, and where it runs, by the device of one of them."""
    if not isinstance(tensor, torch.Tensor):
        operation.refuse(argument, "a torch.Tensor", type(tensor).__name__)
    if tensor.device.type not in ("cpu", "cuda"):
        operation.refuse(argument, "a tensor on the processor or an NVIDIA GPU", tensor.device)
    tensors = Tensors(operation, tensor.device)
    return tensors, TensorStream(tensors, given)
