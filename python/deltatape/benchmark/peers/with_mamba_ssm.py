"""mamba's kernel for a single step, on NVIDIA GPUs."""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from numpy.typing import NDArray

from deltatape.benchmark.peers import Peer
from deltatape.benchmark.peers.with_torch import finish, torch
from deltatape.verification.inputs import StepInputs

kernel: Any = importlib.import_module("mamba_ssm.ops.triton.selective_state_update")


@dataclass
class Decode:
    """Steps of layers whose states are written in place."""

    layers: list[StepInputs]

    def __post_init__(self) -> None:
        self._states = [torch.clone(layer.state) for layer in self.layers]
        self._calls = [
            step_arguments(*each) for each in zip(self._states, self.layers, strict=True)
        ]

    def run(self) -> None:
        """Take one more step in every layer."""
        for arguments in self._calls:
            kernel.selective_state_update(**arguments)
        finish(self._states)

    def state(self) -> NDArray[Any]:
        """Return the last layer's state after one step from the beginning."""
        self._states[-1].copy_(self.layers[-1].state)
        kernel.selective_state_update(**self._calls[-1])
        found: NDArray[Any] = self._states[-1].cpu().numpy()
        return found


def record(layers: list[StepInputs]) -> Iterator[Peer]:
    """Decode: it takes one step at a time."""
    if layers[0].x.shape[1] == 1:
        steps = Decode(layers)
        note = "in place; -exp(a_log) made beforehand"
        yield Peer("mamba selective_state_update", steps.run, steps.state, note)


def step_arguments(state: Any, layer: Any) -> dict[str, Any]:
    """Return its arguments for a step, what all rows of a head share repeated by strides of 0."""
    heads, rows, columns = state.shape[1:]
    return {
        "state": state,
        "x": layer.x[:, 0],
        "dt": layer.dt[:, 0, :, None].expand(-1, heads, rows),
        "A": -torch.exp(layer.a_log)[:, None, None].expand(heads, rows, columns),
        "B": layer.b[:, 0],
        "C": layer.c[:, 0],
        "D": layer.d[:, None].expand(heads, rows),
        "dt_bias": torch.zeros_like(layer.a_log)[:, None].expand(heads, rows),
    }
