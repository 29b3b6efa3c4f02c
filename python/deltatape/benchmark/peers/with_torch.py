"""torch, eager and compiled, on the processor or on the GPU that holds the arrays."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

from deltatape.benchmark.peers import Peer, plain
from deltatape.verification.inputs import StepInputs

torch: Any = importlib.import_module("torch")


def record(layers: list[StepInputs]) -> Iterator[Peer]:
    """Write the formula out step by step."""
    arrays = [plain.step_arrays(each, _tensor) for each in layers]
    for name, function in _both(partial(plain.step, torch)):
        yield plain.Layers(function, arrays, finish).as_peer(name, "no tape")


def replay(layers: list[tuple[Any, Any]]) -> Iterator[Peer]:
    """Write the formula out entry by entry."""
    arrays = [plain.fold_arrays(*each, _tensor) for each in layers]
    for name, function in _both(plain.fold):
        yield plain.Layers(function, arrays, finish).as_peer(name)


def invert(a: Any) -> Iterator[Peer]:
    """Solve with the identity on the right."""
    layers = plain.Layers(_solve, [(_tensor(a),)], finish)
    yield layers.as_peer("torch solve_triangular", inverse=True)


def _both(function: Callable[..., Any]) -> Iterator[tuple[str, Callable[..., Any]]]:
    yield "torch", _without_gradients(function)
    yield "torch compiled", _without_gradients(torch.compile(function, dynamic=False))


def _without_gradients(function: Callable[..., Any]) -> Callable[..., Any]:
    return torch.no_grad()(function)  # type: ignore[no-any-return]


def _solve(a: Any) -> Any:
    identity = torch.eye(a.shape[-1], dtype=a.dtype, device=a.device)
    inverse = torch.linalg.solve_triangular(
        plain.blocks(a), identity, upper=False, unitriangular=True
    )
    return plain.unblocked(inverse, a).contiguous()


def _tensor(array: Any) -> Any:
    return array if isinstance(array, torch.Tensor) else torch.from_numpy(array)


def finish(_: object) -> None:
    """Wait for the GPU, if one is used."""
    if torch.cuda.is_initialized():
        torch.cuda.synchronize()
