"""What the refusals of all functions have in common."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np
import pytest

from deltatape import Device, Error

Arguments = dict[str, Any]


def arrays_in(value: object) -> Iterator[np.ndarray]:
    """Every array of an argument: of a tape, of a tuple of outputs, or the argument itself."""
    if isinstance(value, np.ndarray):
        yield value
    elif is_dataclass(value):
        for field in fields(value):
            yield from arrays_in(getattr(value, field.name))
    elif isinstance(value, tuple | list):
        for item in value:
            yield from arrays_in(item)


def whole(array: np.ndarray) -> bytes:
    """The bytes of all memory that the array is a view of."""
    base = array
    while isinstance(base.base, np.ndarray):
        base = base.base
    return base.tobytes()


@pytest.fixture
def refuses(device: Device) -> Callable[..., None]:
    """Check that a call raises the error, names the argument, and changes no byte of any array."""

    def check(function: Callable[..., Any], arguments: Arguments, error: type[Error], named: str):
        before = [whole(array) for value in arguments.values() for array in arrays_in(value)]
        with device.stream() as stream, pytest.raises(error) as raised:
            function(**{"stream": stream, **arguments})
        sentence = rf"\[{function.__name__}\] {named}: expected .+, got .+"
        assert re.fullmatch(sentence, str(raised.value)), raised.value
        after = [whole(array) for value in arguments.values() for array in arrays_in(value)]
        assert after == before

    return check


def read_only(array: np.ndarray) -> np.ndarray:
    array.flags.writeable = False
    return array


def swapped(array: np.ndarray) -> np.ndarray:
    return array.astype(array.dtype.newbyteorder())


def strided(array: np.ndarray) -> np.ndarray:
    return np.repeat(array, 2, axis=-1)[..., ::2]


def unaligned(array: np.ndarray) -> np.ndarray:
    memory = np.zeros(array.nbytes + 1, np.uint8)[1:]
    moved = memory.view(array.dtype).reshape(array.shape)
    moved[...] = array
    return moved


BAD_OUTPUTS = {
    "a list": lambda array: array.tolist(),
    "read-only": read_only,
    "byte-swapped": swapped,
    "strided": strided,
    "unaligned": unaligned,
    "too small": lambda array: np.ascontiguousarray(array[..., :-1]),
    "of another rank": lambda array: array[None],
}


@pytest.fixture(params=BAD_OUTPUTS)
def bad_output(request: pytest.FixtureRequest) -> Callable[[np.ndarray], Any]:
    """A way in which an array cannot be written as it is, or does not fit."""
    return BAD_OUTPUTS[request.param]
