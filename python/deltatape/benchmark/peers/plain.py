"""The formulas as any array library's user writes them, heads grouped [G,H/G]."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deltatape.benchmark.peers import Peer
from deltatape.verification.inputs import StepInputs

Arrays = tuple[Any, ...]
Convert = Callable[[NDArray[Any]], Any]


def step(xp: Any, x: Any, a_log: Any, b: Any, c: Any, d: Any, dt: Any, state: Any) -> Arrays:
    """Y and the state after T steps; no tape."""
    decay = xp.exp(-xp.exp(a_log) * dt)
    ys = []
    for t in range(x.shape[1]):
        update = (x[:, t] * dt[:, t, ..., None])[..., None] * b[:, t, :, None, None, :]
        state = decay[:, t, ..., None, None] * state + update
        y = (state @ c[:, t, :, None, :, None])[..., 0]
        ys.append(y + d[..., None] * x[:, t])
    return xp.stack(ys, 1), state


def fold(decay: Any, scale: Any, u: Any, v: Any, state: Any) -> Any:
    """Return the state after every entry of a factored tape."""
    for t in range(u.shape[1]):
        update = (u[:, t] * scale[:, t, ..., None])[..., None] * v[:, t, :, None, None, :]
        state = decay[:, t, ..., None, None] * state + update
    return state


def step_arrays(inputs: StepInputs, convert: Convert) -> Arrays:
    """Return the arguments of `step`."""
    groups = inputs.b.shape[2]
    assert inputs.d is not None
    assert inputs.state is not None
    return (
        convert(grouped(inputs.x, groups, 2)),
        convert(inputs.a_log.reshape(groups, -1)),
        convert(inputs.b),
        convert(inputs.c),
        convert(inputs.d.reshape(groups, -1)),
        convert(grouped(inputs.dt, groups, 2)),
        convert(grouped(inputs.state, groups, 1)),
    )


def fold_arrays(state: NDArray[Any], tape: Any, convert: Convert) -> Arrays:
    """Return the arguments of `fold`."""
    groups = tape.v.shape[2]
    factors = (tape.decay, tape.scale, tape.u)
    return (
        *(convert(grouped(each, groups, 2)) for each in factors),
        convert(tape.v),
        convert(grouped(state, groups, 1)),
    )


def grouped(array: NDArray[Any], groups: int, axis: int) -> NDArray[Any]:
    """Split the heads' axis by groups."""
    shape = array.shape
    return array.reshape(*shape[:axis], groups, shape[axis] // groups, *shape[axis + 1 :])


class Layers:
    """Runs a function over layers' arrays, all of their results alive at once."""

    def __init__(self, function: Callable[..., Any], layers: Sequence[Arrays], finish: Any) -> None:
        self._function = function
        self._layers = layers
        self._finish = finish
        self._results: list[Any] = []

    def run(self) -> None:
        """Run every layer once, and wait for a lazy or asynchronous library."""
        self._results = [self._function(*arrays) for arrays in self._layers]
        self._finish(self._results)

    def state(self) -> NDArray[Any]:
        """Return the last layer's state [B,H,Dh,Ds]."""
        last = self._results[-1]
        state = _on_host(last[1] if isinstance(last, tuple) else last)
        batch, *_, rows, columns = state.shape
        return state.reshape(batch, -1, rows, columns)

    def inverse(self) -> NDArray[Any]:
        """Return the last inverse, in our layout."""
        return _on_host(self._results[-1])

    def as_peer(self, name: str, note: str = "", inverse: bool = False) -> Peer:
        """Return the line of the report."""
        return Peer(name, self.run, self.inverse if inverse else self.state, note)


def _on_host(array: Any) -> NDArray[Any]:
    return np.asarray(array.cpu() if hasattr(array, "cpu") else array)


def nothing(_: object) -> None:
    """Finish what a library has done when it returns."""


def blocks(a: Any) -> Any:
    """View [B,T,H,BT] as [B,chunks,H,BT,BT], for T a multiple of BT."""
    batch, steps, heads, chunk = a.shape
    return a.reshape(batch, steps // chunk, chunk, heads, chunk).swapaxes(2, 3)


def unblocked(square: Any, like: Any) -> Any:
    """Undo `blocks`."""
    return square.swapaxes(2, 3).reshape(*like.shape)
