"""MLX on its default device, and mlx-lm's function for the same layer."""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from functools import partial
from typing import Any

from numpy.typing import NDArray

from deltatape.benchmark.peers import Peer
from deltatape.benchmark.peers.plain import (
    Layers,
    blocks,
    fold,
    fold_arrays,
    step,
    step_arrays,
    unblocked,
)
from deltatape.verification.inputs import StepInputs

mx: Any = importlib.import_module("mlx.core")


def record(layers: list[StepInputs]) -> Iterator[Peer]:
    """Write the formula out step by step."""
    arrays = [step_arrays(each, mx.array) for each in layers]
    yield Layers(partial(step, mx), arrays, mx.eval).as_peer("mlx", "no tape")


def replay(layers: list[tuple[NDArray[Any], Any]]) -> Iterator[Peer]:
    """Write the formula out entry by entry."""
    arrays = [fold_arrays(*each, mx.array) for each in layers]
    yield Layers(fold, arrays, mx.eval).as_peer("mlx")


def invert(a: NDArray[Any]) -> Iterator[Peer]:
    """Use MLX's triangular inverse, which runs on the CPU."""
    layers = Layers(_tri_inv, [(mx.array(a),)], mx.eval)
    yield layers.as_peer("mlx tri_inv", inverse=True)


def _tri_inv(a: Any) -> Any:
    lower = mx.tril(blocks(a), -1) + mx.eye(a.shape[-1])
    return mx.contiguous(unblocked(mx.linalg.tri_inv(lower, stream=mx.cpu), a))
