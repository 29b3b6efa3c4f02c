"""numpy as it is."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deltatape.benchmark.peers import Peer, plain
from deltatape.verification.inputs import StepInputs


def record(layers: list[StepInputs]) -> Iterator[Peer]:
    """Write the formula out step by step."""
    arrays = [plain.step_arrays(each, np.asarray) for each in layers]
    yield plain.Layers(partial(plain.step, np), arrays, plain.nothing).as_peer("numpy", "no tape")


def replay(layers: list[tuple[NDArray[Any], Any]]) -> Iterator[Peer]:
    """Write the formula out entry by entry."""
    arrays = [plain.fold_arrays(*each, np.asarray) for each in layers]
    yield plain.Layers(plain.fold, arrays, plain.nothing).as_peer("numpy")


def invert(a: NDArray[Any]) -> Iterator[Peer]:
    """Use the general inverse."""
    yield plain.Layers(_inv, [(a,)], plain.nothing).as_peer(
        "numpy inv", "a general inverse", inverse=True
    )


def _inv(a: NDArray[Any]) -> NDArray[Any]:
    lower = np.tril(plain.blocks(a), -1) + np.eye(a.shape[-1], dtype=a.dtype)
    return np.ascontiguousarray(plain.unblocked(np.linalg.inv(lower), a))
