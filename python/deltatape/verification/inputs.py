"""Inputs of the reference cases, made from seeds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import ml_dtypes
import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]

DTYPES = ("float32", "float16", "bfloat16")


class Shape(NamedTuple):
    """B, T, H, G, Dh, Ds."""

    batch: int = 2
    steps: int = 5
    heads: int = 4
    groups: int = 2
    head_dim: int = 16
    state_dim: int = 64

    @property
    def state(self) -> tuple[int, int, int, int]:
        """The dimensions of the states."""
        return (self.batch, self.heads, self.head_dim, self.state_dim)


def dtype_of(name: str) -> np.dtype[Any]:
    """Return the dtype called float32, float16 or bfloat16."""
    return np.dtype(ml_dtypes.bfloat16 if name == "bfloat16" else name)


def normal(rng: np.random.Generator, shape: tuple[int, ...], dtype: str = "float32") -> Array:
    """Draw standard normal values."""
    return rng.standard_normal(shape, np.float32).astype(dtype_of(dtype))


@dataclass
class StepInputs:
    """What a layer hands to ssm_step_record; the state is an array, or None for zeros."""

    x: Array
    a_log: Array
    b: Array
    c: Array
    d: Array | None
    dt: Array
    state: Any

    def args(self) -> tuple[Any, Any, Any, Any, Any, Any, Any]:
        """Return the positional arguments of ssm_step_record and of its reference."""
        return (self.x, self.a_log, self.b, self.c, self.d, self.dt, self.state)

    @property
    def state_shape(self) -> tuple[int, int, int, int]:
        """[B,H,Dh,Ds]."""
        batch, _, heads, head_dim = self.x.shape
        return (batch, heads, head_dim, self.b.shape[3])

    def steps(self, start: int, stop: int) -> StepInputs:
        """Return the same layer over a part of the steps, without a state."""
        part = slice(start, stop)
        return StepInputs(
            self.x[:, part],
            self.a_log,
            self.b[:, part],
            self.c[:, part],
            self.d,
            self.dt[:, part],
            None,
        )

    def row(self, index: int) -> StepInputs:
        """Return one sequence of the batch."""
        one = slice(index, index + 1)
        state = None if self.state is None else self.state[one]
        return StepInputs(
            self.x[one], self.a_log, self.b[one], self.c[one], self.d, self.dt[one], state
        )


def step_inputs(
    shape: Shape,
    seed: int = 0,
    activation: str = "float32",
    parameter: str | tuple[str, str, str] = "float32",
    state: str = "float32",
) -> StepInputs:
    """Draw values of the size that trained layers have: decays from 0.01 to 0.999.

    `parameter` is the type of a_log, d and dt, or of each.
    """
    rng = np.random.default_rng(seed)
    batch, steps, heads, groups, head_dim, state_dim = shape
    types = (parameter,) * 3 if isinstance(parameter, str) else parameter
    a_log_type, d_type, dt_type = types
    a_log = np.log(rng.uniform(1, 16, heads))
    dt = np.exp(rng.uniform(np.log(1e-3), np.log(0.3), (batch, steps, heads)))
    return StepInputs(
        x=normal(rng, (batch, steps, heads, head_dim), activation),
        a_log=a_log.astype(np.float32).astype(dtype_of(a_log_type)),
        b=normal(rng, (batch, steps, groups, state_dim), activation),
        c=normal(rng, (batch, steps, groups, state_dim), activation),
        d=normal(rng, (heads,), d_type),
        dt=dt.astype(np.float32).astype(dtype_of(dt_type)),
        state=normal(rng, shape.state, state),
    )


@dataclass
class ReplayInputs:
    """A state and the arrays of a factored tape."""

    state: Array
    decay: NDArray[np.float32]
    scale: NDArray[np.float32] | None
    u: Array
    v: Array


def replay_inputs(
    shape: Shape,
    seed: int = 0,
    state: str = "float32",
    u: str = "float32",
    v: str = "float32",
    columns: bool = False,
) -> ReplayInputs:
    """Draw a tape as record writes it, or with a decay for each column."""
    rng = np.random.default_rng(seed)
    batch, steps, heads, groups, head_dim, state_dim = shape
    width = (state_dim,) if columns else ()
    return ReplayInputs(
        state=normal(rng, shape.state, state),
        decay=rng.uniform(0.2, 1, (batch, steps, heads, *width)).astype(np.float32),
        scale=rng.uniform(1e-3, 0.3, (batch, steps, heads)).astype(np.float32),
        u=normal(rng, (batch, steps, heads, head_dim), u),
        v=normal(rng, (batch, steps, groups, state_dim), v),
    )


def row_in_chunk(
    steps: int, chunk: int, cu_seqlens: Sequence[int] | None = None
) -> NDArray[np.int64]:
    """Return each step's row in its chunk; chunks restart at each sequence."""
    bounds = np.asarray([0, steps] if cu_seqlens is None else cu_seqlens)
    lengths = np.diff(bounds)
    since_start = np.arange(steps) - np.repeat(bounds[:-1], lengths)
    rows: NDArray[np.int64] = since_start % chunk
    return rows


def matrices(
    shape: tuple[int, int, int, int],
    seed: int = 0,
    dtype: str = "float32",
    cu_seqlens: Sequence[int] | None = None,
) -> Array:
    """Draw [B,T,H,BT] of a gated delta layer's size, NaN in the elements that are never read."""
    rng = np.random.default_rng(seed)
    a = rng.uniform(-0.3, 0.3, shape).astype(np.float32)
    chunk = shape[3]
    unread = np.arange(chunk) >= row_in_chunk(shape[1], chunk, cu_seqlens)[:, None]
    a[np.broadcast_to(unread[None, :, None, :], shape)] = np.nan
    return a.astype(dtype_of(dtype))


def start_states(
    shape: tuple[int, ...],
    states: Array | None,
    slots: Sequence[int] = (),
    has_initial: Sequence[bool] = (),
    dtype: str = "float32",
) -> tuple[Array, NDArray[np.bool_]]:
    """Return the state that each sequence starts from, and which sequences are skipped."""
    index = np.array(slots or range(shape[0]), np.int64)
    start = np.zeros(shape, dtype_of(dtype)) if states is None else states[index]
    if has_initial:
        start[~np.array(has_initial)] = 0
    return start, index < 0
