"""The exceptions of this package: one base class, one class for each kind of C status."""

from __future__ import annotations


class Error(Exception):
    """Any error of this package.

    Attributes
    ----------
    code : int
        The ``dtape_status_code`` of the C library, or the one it would have given.
    """

    code: int = 0

    def __init__(self, message: str, code: int | None = None) -> None:
        super().__init__(message)
        if code is not None:
            self.code = code


class InvalidArgument(Error, ValueError):
    """An argument's shape, value or memory is not what the function takes."""

    code = 1


class UnsupportedDType(Error, TypeError):
    """An array's element type is not one that the function takes in this place."""

    code = 2


class DeviceUnavailable(Error, RuntimeError):
    """The device cannot be opened here, or not be used in this forked process."""

    code = 3


class NotOffered(Error, NotImplementedError):
    """The device does not offer this kernel, or not for this size."""

    code = 4


class OutOfMemory(Error, MemoryError):
    """The device has not enough memory."""

    code = 5


class DeviceError(Error, RuntimeError):
    """The device failed, or was lost, during the work."""

    code = 6


# Indexed by dtape_status_code.
CLASSES: dict[int, type[Error]] = {
    1: InvalidArgument,
    2: UnsupportedDType,
    3: DeviceUnavailable,
    4: NotOffered,
    5: OutOfMemory,
    6: DeviceError,
    7: DeviceError,
    8: DeviceUnavailable,
}


def from_status(code: int, message: str) -> Error:
    """Return the exception for a status of the C library."""
    return CLASSES.get(code, DeviceError)(message, code)
