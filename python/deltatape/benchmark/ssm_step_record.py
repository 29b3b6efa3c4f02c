"""The works of ssm_step_record."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any, Literal

import numpy as np

import deltatape
from deltatape import Stream
from deltatape.benchmark.peers import Peer, record_peers
from deltatape.benchmark.places import Place, of_each
from deltatape.benchmark.shapes import SYMBOLS, Scale, Shapes
from deltatape.benchmark.timing import Run
from deltatape.benchmark.work import Array, Caller, Group, Work, from_c, from_python, judged
from deltatape.verification.comparisons import Comparison
from deltatape.verification.inputs import DTYPES, Shape, StepInputs, step_inputs
from deltatape.verification.ssm_step_record_checks import Call, compare_state, compare_y

KERNEL = "ssm_step_record"


@dataclass
class Layer:
    """One layer's arguments and the memory of its results, all in the device's memory."""

    place: Place
    inputs: StepInputs
    y: Array
    state_out: Array | None
    tape: Literal["factored", "dense"] | None
    tape_out: tuple[Array, Array] | None = None

    def __call__(self, stream: Stream) -> None:
        """Enqueue the call."""
        self.place.functions.ssm_step_record(
            *self.inputs.args(),
            tape=self.tape,
            advance=self.state_out is not None,
            out=(self.y, self.state_out, self.tape_out),
            stream=stream,
        )


@dataclass(frozen=True)
class Kind:
    """What is done in a work, and how many times the copy it may take."""

    name: str
    tape: Literal["factored", "dense"] | None = "factored"
    writes: Literal["apart", "in place", "nothing"] = "apart"
    goal: float | None = None


FACTORED = Kind("factored tape", goal=2.0)
IN_PLACE = Kind("factored tape, in place", writes="in place")
VERIFY = Kind("factored tape, state not written", writes="nothing")
DENSE = Kind("dense tape", tape="dense")
DECODE = Kind("decode, in place", tape=None, writes="in place", goal=1.4)
DECODE_FROM_C = Kind("decode, in place, from C", tape=None, writes="in place", goal=1.2)
DECODE_APART = Kind("decode", tape=None)


def groups(shapes: Shapes) -> list[Group]:
    """Return what is timed together, for a set of shapes."""
    cell, layers = shapes.cell, shapes.layers
    if shapes.sweeps:
        return [[(FACTORED, *cell) for cell in sweep] for sweep in shapes.swept_cells()]
    one_step = cell._replace(steps=1)
    return [
        [(FACTORED, cell, dtype, layers) for dtype in DTYPES],
        [(VERIFY, cell, "float32", layers)],
        [(DENSE, cell, "float32", layers)],
        [(DECODE_APART, one_step, "float32", layers)],
        [
            (DECODE, one_step, "float32", layers),
            (DECODE_FROM_C, one_step, "float32", layers, from_c),
        ],
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
    beside = partial(peers, made) if kind in (FACTORED, DECODE_APART) else list
    return Work(
        kernel=KERNEL,
        name=kind.name,
        dtypes=dtype,
        sizes=dict(zip(SYMBOLS, shape, strict=True)),
        layers=layers,
        moved=moved(made[0]),
        run=run,
        check=partial(check, run, made[-1]),
        result=partial(result, made[-1]),
        **judged(dtype, kind.goal, beside),
    )


def build(place: Place, kind: Kind, shape: Shape, dtype: str, seed: int) -> Layer:
    """Build a layer with its arrays in the device's memory."""
    inputs = of_each(place.put, step_inputs(shape, seed, dtype, state=dtype))
    assert inputs.state is not None
    outputs: dict[str, Any] = {
        "apart": lambda: place.poisoned(shape.state, dtype),
        "in place": lambda: inputs.state,
        "nothing": lambda: None,
    }
    y = place.poisoned(tuple(inputs.x.shape), dtype)
    state_out = outputs[kind.writes]()
    return Layer(place, inputs, y, state_out, kind.tape, dense_tape(place, kind, shape))


def dense_tape(place: Place, kind: Kind, shape: Shape) -> tuple[Array, Array] | None:
    """Return memory for a dense tape; a factored one is left to the call, as it is small."""
    if kind.tape != "dense":
        return None
    rates = (shape.batch, shape.steps, shape.heads)
    return (
        place.poisoned((*rates, shape.state_dim), "float32"),
        place.poisoned((*rates, shape.head_dim, shape.state_dim), "float32"),
    )


def moved(layer: Layer) -> int:
    """Return the bytes of the states read and written, and of a dense tape."""
    assert layer.inputs.state is not None
    state: int = layer.inputs.state.nbytes
    read_and_written = state * (1 if layer.state_out is None else 2)
    if layer.tape != "dense":
        return read_and_written
    sizes = (*layer.inputs.x.shape, layer.inputs.b.shape[-1])
    return read_and_written + deltatape.tape_nbytes("dense", *sizes)


def check(run: Run, layer: Layer) -> list[Comparison]:
    """Run once more, and compare the last layer's last sequence with the reference."""
    read = layer.place.read
    start = of_each(read, layer.inputs.row(len(layer.inputs.x) - 1))
    run()
    call = Call(start, np.ones(start.dt.shape[:2], bool), np.zeros(1, bool))
    found = list(compare_y(call, read(layer.y[-1:])))
    if layer.state_out is not None:
        found.append(compare_state(call, read(layer.state_out[-1:])))
    return found


def result(layer: Layer) -> Array:
    """Return the state that was written last."""
    return layer.place.read(layer.state_out)


def peers(layers: list[Layer]) -> list[Peer]:
    """Return other libraries' same step, with y and the state as their results."""
    return record_peers(layers[0].place.libraries, [layer.inputs for layer in layers])
