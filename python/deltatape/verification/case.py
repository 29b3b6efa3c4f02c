"""What a reference case is, and how a kernel is called in one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deltatape import Device
from deltatape.verification.comparisons import Comparison

Array = NDArray[Any]


@dataclass(frozen=True)
class Case:
    """One row of ``deltatape verify``.

    Parameters
    ----------
    kernel
        The kernel's name.
    edge
        What the case is about.
    dtypes
        The dtypes in it, as text.
    compare
        Runs the kernel on a device and compares its results.
    """

    kernel: str
    edge: str
    dtypes: str
    compare: Callable[[Device], list[Comparison]]

    @property
    def name(self) -> str:
        """The edge and the dtypes."""
        return f"{self.edge} [{self.dtypes}]"


def poisoned(device: Device, shape: tuple[int, ...], dtype: Any) -> Array:
    """Return memory for a result, filled with NaN, so that an element left out is seen."""
    memory = device.empty(shape, dtype)
    memory.fill(np.nan)
    return memory
