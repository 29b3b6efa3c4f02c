"""MLX on its default device, and mlx-lm's function for the same layer."""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deltatape.benchmark.peers import Peer, installed, plain
from deltatape.verification.inputs import StepInputs

mx: Any = importlib.import_module("mlx.core")


def record(layers: list[StepInputs]) -> Iterator[Peer]:
    """Write the formula out step by step, and call mlx-lm's function for the layer."""
    arrays = [plain.step_arrays(each, mx.array) for each in layers]
    yield plain.Layers(partial(plain.step, mx), arrays, mx.eval).as_peer("mlx", "no tape")
    if installed("mlx_lm"):
        update = importlib.import_module("mlx_lm.models.ssm").ssm_update
        arrays = [_update_arrays(each) for each in layers]
        note = "no tape; softplus as well"
        yield plain.Layers(update, arrays, mx.eval).as_peer("mlx-lm ssm_update", note)


def _update_arrays(inputs: StepInputs) -> plain.Arrays:
    """Return the arguments of ssm_update, which takes dt before the softplus and limits it."""
    before_softplus = np.log(np.expm1(inputs.dt))
    given = (inputs.x, inputs.a_log, inputs.b, inputs.c, inputs.d, before_softplus)
    no_bias = np.zeros(inputs.dt.shape[-1], np.float32)
    return (*(mx.array(each) for each in (*given, no_bias, inputs.state)), (0.0, float("inf")))


def replay(layers: list[tuple[NDArray[Any], Any]]) -> Iterator[Peer]:
    """Write the formula out entry by entry."""
    arrays = [plain.fold_arrays(*each, mx.array) for each in layers]
    yield plain.Layers(plain.fold, arrays, mx.eval).as_peer("mlx")


def invert(a: NDArray[Any]) -> Iterator[Peer]:
    """Use MLX's triangular inverse, which runs on the CPU."""
    layers = plain.Layers(_tri_inv, [(mx.array(a),)], mx.eval)
    yield layers.as_peer("mlx tri_inv", inverse=True)


def _tri_inv(a: Any) -> Any:
    lower = mx.tril(plain.blocks(a), -1) + mx.eye(a.shape[-1])
    return mx.contiguous(plain.unblocked(mx.linalg.tri_inv(lower, stream=mx.cpu), a))
