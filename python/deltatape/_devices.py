"""Devices and their streams."""

from __future__ import annotations

import operator
import os
from collections.abc import Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from deltatape import _native
from deltatape._arrays import Array, Operation
from deltatape._native import Fields, Handle, Kernel

if TYPE_CHECKING:
    from typing_extensions import Self

_DEVICE = Operation("device")
_EMPTY = Operation("empty")
_STREAM = Operation("stream")


class Device:
    """An opened device.

    Parameters
    ----------
    name
        ``"cpu"``, ``"metal"``, ``"cuda"``, or ``"auto"``: metal where a supported GPU is found, cpu
        elsewhere. None is the environment variable ``DELTATAPE_DEVICE``, else ``"auto"``.

    Raises
    ------
    DeviceUnavailable
        The device cannot be opened on this machine.

    Attributes
    ----------
    name : str
        What was opened; never ``"auto"``.

    Notes
    -----
    Thread-safe. Arrays and streams of a device keep what they need of it: they may outlive `close`.

    Examples
    --------
    >>> import deltatape
    >>> with deltatape.Device("cpu") as device, device.stream() as stream:
    ...     memory = device.empty((2, 3), "float16")
    >>> memory.shape
    (2, 3)
    """

    def __init__(self, name: str | None = None) -> None:
        chosen = os.environ.get("DELTATAPE_DEVICE", "auto") if name is None else name
        self._handle: Handle | None = _native.open_device(chosen)
        self.name = str(self.info["name"])

    def _opened(self) -> Handle:
        if self._handle is None:
            _DEVICE.refuse("device", "an open device", "a closed one")
        return self._handle

    @property
    def info(self) -> dict[str, Any]:
        """What the device is: ``threads``, ``name``, ``path`` (instruction set), ``hardware``."""
        return _native.describe(self._opened())

    @property
    def counters(self) -> dict[str, int]:
        """What the device has done since the process started, whoever opened it.

        The keys are ``dispatches``, ``command_buffers``, ``pipelines_compiled``, ``bytes_wrapped``
        and ``bytes_copied``.
        """
        return _native.counters(self._opened())

    def empty(self, shape: int | Sequence[int], dtype: npt.DTypeLike = np.float32) -> Array:
        """Return an array, not initialised, that the device reads and writes without a copy.

        Parameters
        ----------
        shape
            One size, or a sequence of them.
        dtype
            Any element type but objects.

        Returns
        -------
        ndarray
            Its memory goes back to the device when the last view of it dies.

        Raises
        ------
        OutOfMemory
            The device has not enough memory.
        InvalidArgument
            A size is negative.
        UnsupportedDType
            The element type holds objects.
        """
        sizes = (shape,) if isinstance(shape, int | np.integer) else shape
        sizes = tuple(operator.index(size) for size in sizes)
        element = np.dtype(dtype)
        if min(sizes, default=0) < 0:
            _EMPTY.refuse("shape", "sizes >= 0", sizes)
        if element.hasobject:
            _EMPTY.refuse_dtype("dtype", "an element type without objects", element)
        return _native.allocate(self._opened(), sizes, element)

    def stream(self) -> Stream:
        """Open a stream: work in order, whose results are valid after its `wait`."""
        return Stream(self)

    def close(self) -> None:
        """Close the device. What its arrays and streams need lives until the last of them dies."""
        self._handle = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<deltatape.Device {self.name}{'' if self._handle is not None else ', closed'}>"


class Stream:
    """Work in order on one device; opened by `Device.stream`.

    Functions that are given a stream return at once. Their results are valid, and their arguments
    may be changed, after `wait`. The stream keeps all of these arrays alive until then. As a
    context manager it waits at the end of the block and closes.

    Notes
    -----
    One thread at a time: a call while another thread is inside one on the same stream is refused.
    """

    def __init__(self, device: Device, *, waits: bool = False, callers: int | None = None) -> None:
        self._device = device._opened()
        self._device_name = device.name
        self._handle: Handle | None = _native.open_stream(self._device, callers)
        self._waits = waits
        self._alive: list[Any] = []

    def _opened(self) -> Handle:
        if self._handle is None:
            _STREAM.refuse("stream", "an open stream", "a closed one")
        return self._handle

    def _empty(self, shape: tuple[int, ...], dtype: np.dtype[Any]) -> Array:
        return _native.allocate(self._device, shape, dtype)

    def _run(self, kernel: Kernel, fields: Fields) -> None:
        call = kernel.prepared(self._opened(), fields)
        call()
        if self._waits:
            self.wait()
        else:
            self._alive.append(call)

    def wait(self) -> None:
        """Return when everything enqueued is done, or raise the first error since the last wait."""
        _native.wait(self._opened())
        self._alive.clear()

    def close(self) -> None:
        """Wait, and close the stream whatever the wait says. A second call does nothing."""
        if self._handle is None:
            return
        try:
            self.wait()
        finally:
            handle, self._handle = self._handle, None
            _native.release(handle)
            self._alive.clear()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()
