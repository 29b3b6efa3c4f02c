"""Reference cases of ssm_replay."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial

import numpy as np

from deltatape import DenseTape, Device, FactoredTape, reference
from deltatape.verification import pinned, tolerances
from deltatape.verification.calls import replay
from deltatape.verification.case import Array, Case, poisoned
from deltatape.verification.comparisons import Comparison, normwise, same_bytes
from deltatape.verification.inputs import (
    DTYPES,
    Shape,
    normal,
    replay_inputs,
    start_states,
)

KERNEL = "ssm_replay"

Tape = FactoredTape | DenseTape

SMALL = Shape()


@dataclass(frozen=True)
class Edge:
    """A case's inputs: dimensions, dtypes, and what is unusual about the call.

    `v` is the dtype of dbx_log where the tape is dense.
    """

    name: str
    shape: Shape = SMALL
    state: str = "float32"
    u: str = "float32"
    v: str = "float32"
    tape: str = "factored"
    k: tuple[int, ...] = (3, 5)
    mask: tuple[int, ...] = ()
    scale: bool = True
    slots: tuple[int, ...] = ()

    @property
    def dtypes(self) -> str:
        """Of the state, u and v, or of the state and dbx_log."""
        return (
            f"{self.state} {self.u} {self.v}" if self.tape != "dense" else f"{self.state} {self.v}"
        )


ODD = Shape(1, 7, 3, 3, 5, 7)
PATTERN = (1, 0, 1, 1, 0)

EDGES = (
    Edge("no scale", scale=False),
    Edge("k = 0", k=(0, 0)),
    Edge("k = T", k=(5, 5)),
    Edge("each its own k", Shape(4), k=(1, 0, 4, 2)),
    *(Edge(f"odd sizes, {t}", ODD, tape=t, k=(6,)) for t in ("factored", "columns", "dense")),
    Edge("one group", Shape(1, 4, 5, 1, 8, 32), k=(3,)),
    Edge("64 entries", Shape(1, 64, 2, 1, 8, 32), k=(64,)),
    *(Edge(f"Ds {n}", Shape(1, 5, 2, 1, 4, n), k=(4,)) for n in (1, 31, 33, 80, 96, 128, 257)),
    *(Edge(f"Dh {n}", Shape(1, 5, 2, 1, n, 16), k=(4,)) for n in (1, 48, 257)),
    *(Edge(f"mask, {t}", tape=t, mask=PATTERN) for t in ("factored", "columns", "dense")),
    Edge("all masked", mask=(0,)),
    Edge("all masked, dense", mask=(0,), tape="dense"),
    Edge("slots", Shape(3), slots=(2, -1, 0), k=(1, 5, 3)),
    Edge("slots, dense", Shape(3), slots=(2, -1, 0), k=(1, 5, 3), tape="dense"),
    Edge("no sequences", Shape(batch=0), k=()),
    Edge("no entries", Shape(steps=0), k=(0, 0)),
    Edge("no columns", Shape(state_dim=0)),
    Edge("no rows", Shape(head_dim=0)),
    Edge("no heads", Shape(heads=0, groups=1)),
)


def dtype_edges() -> Iterator[Edge]:
    """Pairs of the three types, as an orthogonal array whose diagonal has each type alone."""
    for i, state in enumerate(DTYPES):
        for j, u in enumerate(DTYPES):
            yield Edge("dtypes", state=state, u=u, v=DTYPES[-(i + j) % 3])
            yield Edge("dtypes, dense", state=state, v=u, tape="dense")
        yield Edge("dtypes, columns", state=state, u=state, v=state, tape="columns")
    for half in DTYPES[1:]:
        yield Edge("dtypes", u=half, v=half)


def cases() -> Iterator[Case]:
    """Every case of this kernel."""
    for edge in (*dtype_edges(), *EDGES):
        yield Case(KERNEL, edge.name, edge.dtypes, partial(compare, edge))


def compare(edge: Edge, device: Device) -> list[Comparison]:
    """Run the case on a device, with NaN in every entry that must not be read."""
    states, tape, mask = build(edge)
    before = states.copy()
    start, skipped = start_states(edge.shape.state, before, edge.slots)
    unread = entries_unread(edge, mask)
    fill(tape, unread, decay=1, others=0)
    exact = reference.ssm_replay(start, tape, edge.k, mask)
    folded = fold(start, tape)
    fill(tape, unread, decay=np.nan, others=np.nan)
    state = run(edge, device, states, tape, mask)
    found = []
    if edge.slots:
        others = np.setdiff1d(np.arange(len(before)), edge.slots)
        found.append(same_bytes("other slots", state[others], before[others]))
        state = state[list(edge.slots)]
    bound = tolerances.normwise(state.dtype, max((*edge.k, 1)))
    return [
        *found,
        normwise("state", state[~skipped], exact[~skipped], (2, 3), bound),
        same_bytes("state's bytes", state[~skipped], folded[~skipped]),
    ]


def build(edge: Edge) -> tuple[Array, Tape, Array | None]:
    """Return the states or the pool, the tape and the mask of a case."""
    shape = edge.shape
    pool = shape._replace(batch=max(edge.slots) + 2) if edge.slots else shape
    states = replay_inputs(pool, 1, edge.state).state
    inputs = replay_inputs(shape, 2, u=edge.u, v=edge.v, columns=edge.tape != "factored")
    mask = np.resize(np.array(edge.mask, bool), (shape.batch, shape.steps)) if edge.mask else None
    if edge.tape == "dense":
        entries = (shape.batch, shape.steps, shape.heads, shape.head_dim, shape.state_dim)
        dbx_log = normal(np.random.default_rng(3), entries, edge.v)
        return states, DenseTape(inputs.decay, dbx_log), mask
    scale = inputs.scale if edge.scale else None
    return states, FactoredTape(inputs.decay, scale, inputs.u, inputs.v), mask


def entries_unread(edge: Edge, mask: Array | None) -> Array:
    """Return [B,T], True from k on and where masked."""
    steps = np.arange(edge.shape.steps)
    unread = steps >= np.array(edge.k, np.int64).reshape(-1, 1)
    return unread if mask is None else unread | ~mask


def fill(tape: Tape, where: Array, decay: float, others: float) -> None:
    """Overwrite entries of a tape's arrays."""
    if isinstance(tape, DenseTape):
        tape.da_log[where] = decay
        tape.dbx_log[where] = -others
        return
    tape.decay[where] = decay
    for each in (tape.scale, tape.u, tape.v):
        if each is not None:
            each[where] = others


def fold(start: Array, tape: Tape) -> Array:
    """Apply the pinned arithmetic to the whole tape."""
    if isinstance(tape, DenseTape):
        return pinned.fold_dense(start, tape.da_log, tape.dbx_log)
    scale = np.ones(tape.u.shape[:3], np.float32) if tape.scale is None else tape.scale
    return pinned.fold(start, tape.decay, scale, tape.u, tape.v)


def run(edge: Edge, device: Device, states: Array, tape: Tape, mask: Array | None) -> Array:
    """Call the kernel with a poisoned output."""
    out = None if edge.slots else poisoned(device, states.shape, states.dtype)
    k = np.array(edge.k, np.int64)
    slots = edge.slots or None
    return replay(device, states, tape, k, mask=mask, slots=slots, out=out)
