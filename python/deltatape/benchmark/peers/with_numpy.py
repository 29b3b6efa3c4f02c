"""numpy as it is."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deltatape.benchmark.peers import Peer
from deltatape.benchmark.peers.plain import (
    Layers,
    blocks,
    fold,
    fold_arrays,
    nothing,
    step,
    step_arrays,
    unblocked,
)
from deltatape.verification.inputs import StepInputs


def record(layers: list[StepInputs]) -> Iterator[Peer]:
    """Write the formula out step by step."""
    arrays = [step_arrays(each, np.asarray) for each in layers]
    yield Layers(partial(step, np), arrays, nothing).as_peer("numpy", "no tape")


def replay(layers: list[tuple[NDArray[Any], Any]]) -> Iterator[Peer]:
    """Write the formula out entry by entry."""
    arrays = [fold_arrays(*each, np.asarray) for each in layers]
    yield Layers(fold, arrays, nothing).as_peer("numpy")


def invert(a: NDArray[Any]) -> Iterator[Peer]:
    """Use the general inverse."""
    yield Layers(_inv, [(a,)], nothing).as_peer("numpy inv", "a general inverse", inverse=True)


def _inv(a: NDArray[Any]) -> NDArray[Any]:
    lower = np.tril(blocks(a), -1) + np.eye(a.shape[-1], dtype=a.dtype)
    return np.ascontiguousarray(unblocked(np.linalg.inv(lower), a))
