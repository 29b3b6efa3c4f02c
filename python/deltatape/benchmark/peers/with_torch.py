"""torch on the CPU, eager and compiled."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

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

torch: Any = importlib.import_module("torch")


def record(layers: list[StepInputs]) -> Iterator[Peer]:
    """Write the formula out step by step."""
    arrays = [step_arrays(each, torch.from_numpy) for each in layers]
    for name, function in _both(partial(step, torch)):
        yield Layers(function, arrays, nothing).as_peer(name, "no tape")


def replay(layers: list[tuple[NDArray[Any], Any]]) -> Iterator[Peer]:
    """Write the formula out entry by entry."""
    arrays = [fold_arrays(*each, torch.from_numpy) for each in layers]
    for name, function in _both(fold):
        yield Layers(function, arrays, nothing).as_peer(name)


def invert(a: NDArray[Any]) -> Iterator[Peer]:
    """Solve with the identity on the right."""
    layers = Layers(_solve, [(torch.from_numpy(a),)], nothing)
    yield layers.as_peer("torch solve_triangular", inverse=True)


def _both(function: Callable[..., Any]) -> Iterator[tuple[str, Callable[..., Any]]]:
    yield "torch", _without_gradients(function)
    yield "torch compiled", _without_gradients(torch.compile(function, dynamic=False))


def _without_gradients(function: Callable[..., Any]) -> Callable[..., Any]:
    return torch.no_grad()(function)  # type: ignore[no-any-return]


def _solve(a: Any) -> Any:
    identity = torch.eye(a.shape[-1], dtype=a.dtype)
    inverse = torch.linalg.solve_triangular(blocks(a), identity, upper=False, unitriangular=True)
    return unblocked(inverse, a).contiguous()
