"""The works of ssm_replay."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Literal

import numpy as np

import deltatape
from deltatape import DenseTape, Device, FactoredTape, Stream, reference
from deltatape.benchmark.peers import Peer, replay_peers
from deltatape.benchmark.shapes import SYMBOLS, Shapes, layers_for
from deltatape.benchmark.timing import Run
from deltatape.benchmark.work import Array, Group, Work, from_python, place
from deltatape.verification import tolerances
from deltatape.verification.case import poisoned
from deltatape.verification.comparisons import Comparison, normwise
from deltatape.verification.inputs import DTYPES, Shape, normal, replay_inputs

KERNEL = "ssm_replay"


@dataclass
class Layer:
    """A state, a tape that is replayed to its end, and where the new state goes."""

    state: Array
    tape: FactoredTape | DenseTape
    out: Array

    def __call__(self, stream: Stream) -> None:
        """Enqueue the call."""
        deltatape.ssm_replay(self.state, self.tape, self.tape.steps, out=self.out, stream=stream)


@dataclass(frozen=True)
class Kind:
    """What is done in a work, and how many times the copy it may take."""

    name: str
    goal: float | None
    tape: Literal["factored", "dense"] = "factored"
    in_place: bool = False


FACTORED = Kind("factored tape", goal=1.3)
IN_PLACE = Kind("factored tape, in place", goal=None, in_place=True)
DENSE = Kind("dense tape", goal=1.2, tape="dense")


def groups(shapes: Shapes) -> list[Group]:
    """Return what is timed together, for a set of shapes."""
    cell, layers = shapes.cell, shapes.layers
    if shapes.sweeps:
        return [[(FACTORED, shape, "float32", layers_for(shape))] for shape in shapes.swept()]
    return [
        [(FACTORED, cell, dtype, layers) for dtype in DTYPES],
        [(IN_PLACE, cell, "float32", layers)],
        [(DENSE, cell, "float32", layers)],
    ]


def headline(device: Device, shapes: Shapes) -> Work:
    """Build the work that stands for the kernel."""
    return work(device, FACTORED, shapes.cell, "float32", shapes.layers)


def work(device: Device, kind: Kind, shape: Shape, dtype: str, layers: int) -> Work:
    """Make the same call for each of some layers, whose states and activations have one dtype."""
    made = [build(device, kind, shape, dtype, seed) for seed in range(layers)]
    run = from_python(device, made)
    whole = dtype == "float32"
    read = made[0].tape.nbytes if kind.tape == "dense" else 0
    return Work(
        kernel=KERNEL,
        name=kind.name,
        dtypes=dtype,
        sizes=dict(zip(SYMBOLS, shape, strict=True)),
        layers=layers,
        moved=read + made[0].state.nbytes + made[0].out.nbytes,
        run=run,
        check=partial(check, run, made[-1]),
        result=lambda: made[-1].out,
        goal=kind.goal if whole else None,
        no_slower_than=None if whole else "float32",
        peers=partial(peers, made) if whole and kind is FACTORED else list,
    )


def build(device: Device, kind: Kind, shape: Shape, dtype: str, seed: int) -> Layer:
    """Build a layer with its arrays in the device's memory."""
    made = replay_inputs(shape, seed, dtype, dtype, dtype, columns=kind.tape == "dense")
    state = place(device, made.state)
    out = state if kind.in_place else poisoned(device, shape.state, state.dtype)
    decay = place(device, made.decay)
    if kind.tape == "dense":
        entries = (shape.batch, shape.steps, *shape.state[1:])
        dbx_log = normal(np.random.default_rng(seed), entries, "float32")
        return Layer(state, DenseTape(decay, place(device, dbx_log)), out)
    assert made.scale is not None
    factors = (place(device, each) for each in (made.scale, made.u, made.v))
    return Layer(state, FactoredTape(decay, *factors), out)


def check(run: Run, layer: Layer) -> list[Comparison]:
    """Run once more, and compare the last layer's last sequence with the reference."""
    start = layer.state[-1:].copy()
    run()
    steps = layer.tape.steps
    exact = reference.ssm_replay(start, last_row(layer.tape), [steps])
    bound = tolerances.normwise(layer.out.dtype, steps)
    return [normwise("state", layer.out[-1:], exact, (2, 3), bound)]


def last_row(tape: FactoredTape | DenseTape) -> FactoredTape | DenseTape:
    """Return the tape of the last sequence."""
    if isinstance(tape, DenseTape):
        return DenseTape(tape.da_log[-1:], tape.dbx_log[-1:])
    assert tape.scale is not None
    return FactoredTape(tape.decay[-1:], tape.scale[-1:], tape.u[-1:], tape.v[-1:])


def peers(layers: list[Layer]) -> list[Peer]:
    """Return other libraries' same fold."""
    return replay_peers([(layer.state, layer.tape) for layer in layers])
