"""The device and the stream that are used when none is named, and which there are."""

from __future__ import annotations

import threading
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from deltatape import _native
from deltatape._arrays import Array, Operation
from deltatape._devices import Device, Stream
from deltatape.errors import DeviceUnavailable

_OPERATION = Operation("stream")


def devices() -> list[str]:
    """Return the names of the devices that can be opened on this machine.

    Examples
    --------
    >>> import deltatape
    >>> "cpu" in deltatape.devices()
    True
    """
    return [name for name in _native.built_in_devices() if _can_open(name)]


def _can_open(name: str) -> bool:
    try:
        Device(name).close()
    except DeviceUnavailable:
        return False
    return True


class Defaults:
    """The default device, opened at first use, and one stream on it for each thread."""

    def __init__(self) -> None:
        self._device: Device | None = None
        self._opening = threading.Lock()
        self._threads = threading.local()

    def device(self) -> Device:
        with self._opening:
            if self._device is None:
                self._device = Device()
            return self._device

    def stream(self) -> Stream:
        try:
            return self._threads.stream  # type: ignore[no-any-return]
        except AttributeError:
            self._threads.stream = Stream(self.device(), waits=True)
            return self.stream()


DEFAULTS = Defaults()


def stream_or_default(stream: Stream | None) -> Stream:
    """Return the stream to use; the default one waits after each call."""
    if stream is None:
        return DEFAULTS.stream()
    if not isinstance(stream, Stream):
        _OPERATION.refuse("stream", "a deltatape.Stream or None", type(stream).__name__)
    return stream


def empty(shape: int | Sequence[int], dtype: npt.DTypeLike = np.float32) -> Array:
    """Return an array in the default device's memory, not initialised.

    Parameters
    ----------
    shape, dtype
        As in `Device.empty`.

    Returns
    -------
    ndarray
        Its memory goes back to the device when the last view of it dies.
    """
    return DEFAULTS.device().empty(shape, dtype)
