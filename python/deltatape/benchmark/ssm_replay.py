"""The works of ssm_replay."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Literal

import numpy as np

from deltatape import DenseTape, FactoredTape, Stream, reference
from deltatape.benchmark.peers import Peer, replay_peers
from deltatape.benchmark.places import Place, of_each
from deltatape.benchmark.shapes import SYMBOLS, Scale, Shapes
from deltatape.benchmark.timing import Run
from deltatape.benchmark.work import Array, Caller, Group, Work, from_c, from_python, judged
from deltatape.verification import tolerances
from deltatape.verification.comparisons import Comparison, normwise
from deltatape.verification.inputs import DTYPES, Shape, normal, replay_inputs

KERNEL = "ssm_replay"


@dataclass
class Layer:
    """A state, a tape that is replayed to its end, and where the new state goes."""

    place: Place
    state: Array
    tape: FactoredTape | DenseTape
    out: Array

    def __call__(self, stream: Stream) -> None:
        """Enqueue the call."""
        self.place.functions.ssm_replay(
            self.state, self.tape, self.tape.steps, out=self.out, stream=stream
        )


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
        return [[(FACTORED, *cell) for cell in sweep] for sweep in shapes.swept_cells()]
    return [
        [(FACTORED, cell, dtype, layers) for dtype in DTYPES],
        [(IN_PLACE, cell, "float32", layers)],
        [(DENSE, cell, "float32", layers)],
    ]


def scaled(place: Place, shapes: Shapes, scale: Scale) -> Work:
    """Build what numbers of threads are compared by."""
    kind = IN_PLACE if scale == "caches" else FACTORED
    return work(place, kind, *shapes.scaled_cell(scale), from_c)


def work(
    place: Place,
    kind: Kind,
    shape: Shape,
    dtype: str,
    layers: int,
    caller: Caller = from_python,
) -> Work:
    """Make the same call for each of some layers, whose states and activations have one dtype."""
    made = [build(place, kind, shape, dtype, seed) for seed in range(layers)]
    run = caller(place, made)
    read = made[0].tape.nbytes if kind.tape == "dense" else 0
    beside = partial(peers, made) if kind is FACTORED else list
    return Work(
        kernel=KERNEL,
        name=kind.name,
        dtypes=dtype,
        sizes=dict(zip(SYMBOLS, shape, strict=True)),
        layers=layers,
        moved=read + made[0].state.nbytes + made[0].out.nbytes,
        run=run,
        check=partial(check, run, made[-1]),
        result=lambda: place.read(made[-1].out),
        **judged(dtype, kind.goal, beside),
    )


def build(place: Place, kind: Kind, shape: Shape, dtype: str, seed: int) -> Layer:
    """Build a layer with its arrays in the device's memory."""
    made = replay_inputs(shape, seed, dtype, dtype, dtype, columns=kind.tape == "dense")
    state = place.put(made.state)
    out = state if kind.in_place else place.poisoned(shape.state, dtype)
    decay = place.put(made.decay)
    if kind.tape == "dense":
        entries = (shape.batch, shape.steps, *shape.state[1:])
        dbx_log = normal(np.random.default_rng(seed), entries, "float32")
        return Layer(place, state, DenseTape(decay, place.put(dbx_log)), out)
    assert made.scale is not None
    factors = (place.put(each) for each in (made.scale, made.u, made.v))
    return Layer(place, state, FactoredTape(decay, *factors), out)


def check(run: Run, layer: Layer) -> list[Comparison]:
    """Run once more, and compare the last layer's last sequence with the reference."""
    read = layer.place.read
    start = read(layer.state[-1:])
    run()
    steps = layer.tape.steps
    exact = reference.ssm_replay(start, last_row(layer), [steps])
    got = read(layer.out[-1:])
    return [normwise("state", got, exact, (2, 3), tolerances.normwise(got.dtype, steps))]


def last_row(layer: Layer) -> FactoredTape | DenseTape:
    """Return the tape of the last sequence."""
    return of_each(lambda array: layer.place.read(array[-1:]), layer.tape)


def peers(layers: list[Layer]) -> list[Peer]:
    """Return other libraries' same fold."""
    return replay_peers(layers[0].place.libraries, [(layer.state, layer.tape) for layer in layers])
