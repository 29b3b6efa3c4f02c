"""Reference cases of ssm_step_record."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from deltatape import Device
from deltatape.verification.calls import record
from deltatape.verification.case import Array, Case, poisoned
from deltatape.verification.comparisons import Comparison, same_bytes
from deltatape.verification.inputs import (
    DTYPES,
    Shape,
    StepInputs,
    dtype_of,
    start_states,
    step_inputs,
)
from deltatape.verification.ssm_step_record_checks import (
    Call,
    compare_bytes,
    compare_state,
    compare_tape,
    compare_y,
)

KERNEL = "ssm_step_record"

SMALL = Shape()


@dataclass(frozen=True)
class Edge:
    """A case's inputs: dimensions, dtypes, and what is unusual about the call."""

    name: str
    shape: Shape = SMALL
    activation: str = "float32"
    parameter: str | tuple[str, str, str] = "float32"
    state: str = "float32"
    tape: str | None = "factored"
    dbx_log: str = "float32"
    with_state: bool = True
    with_d: bool = True
    advance: bool = True
    mask: tuple[int, ...] = ()
    padding: float | None = None
    has_initial: tuple[bool, ...] = ()
    slots: tuple[int, ...] = ()

    @property
    def dtypes(self) -> str:
        """Of the activations, the parameters and the state."""
        each = self.parameter if isinstance(self.parameter, str) else "/".join(self.parameter)
        return f"{self.activation} {each} {self.state}"


ODD = Shape(1, 7, 3, 3, 5, 7)
PATTERN = (1, 0, 1, 1, 0)

EDGES = (
    Edge("dense tape", tape="dense"),
    *(Edge(f"dense tape, {n}", tape="dense", dbx_log=n) for n in DTYPES[1:]),
    Edge(
        "odd sizes, dense, float16", ODD, "float16", tape="dense", dbx_log="float16", mask=PATTERN
    ),
    Edge("no tape", tape=None),
    Edge("no state", with_state=False),
    Edge("no d", with_d=False),
    Edge("state not written", advance=False),
    Edge("odd sizes", ODD),
    Edge("odd sizes, dense", ODD, tape="dense"),
    Edge("one group", Shape(1, 4, 5, 1, 8, 32)),
    Edge("one step", Shape(2, 1, 4, 2, 16, 64)),
    Edge("64 steps", Shape(1, 64, 2, 1, 8, 32)),
    *(Edge(f"Ds {n}", Shape(1, 5, 2, 1, 4, n)) for n in (1, 31, 33, 80, 96, 128, 257)),
    *(Edge(f"Dh {n}", Shape(1, 5, 2, 1, n, 16)) for n in (1, 48, 257)),
    Edge("mask", mask=PATTERN),
    Edge("mask, dense", mask=PATTERN, tape="dense"),
    Edge("mask of words", mask=(256, 0, 1 << 16, -1, 0)),
    Edge("all masked", mask=(0,)),
    *(Edge(f"padding of {v}", mask=PATTERN, padding=v) for v in (np.nan, np.inf, 1e38)),
    Edge("has_initial", Shape(3), has_initial=(True, False, True)),
    Edge("slots", Shape(3), slots=(2, -1, 0)),
    Edge("slots, has_initial", Shape(3), slots=(-1, 3, 1), has_initial=(True, False, True)),
    Edge("no sequences", Shape(batch=0)),
    Edge("no steps", Shape(steps=0)),
    Edge("no steps, no state", Shape(steps=0), with_state=False),
    Edge("no steps, has_initial", Shape(3, 0), has_initial=(True, False, True)),
    Edge("no steps, slots", Shape(3, 0), slots=(-1, 3, 1), has_initial=(True, True, False)),
    Edge("no columns", Shape(state_dim=0)),
    Edge("no rows", Shape(head_dim=0)),
    Edge("no heads", Shape(heads=0, groups=1)),
)


def dtype_edges() -> Iterator[Edge]:
    """Each pair of activation and state type, and of the two types that each parameter may have."""
    for a in DTYPES:
        for s in DTYPES:
            yield Edge("dtypes", activation=a, parameter="float32", state=s)
            if a != "float32":
                yield Edge("dtypes", activation=a, parameter=a, state=s)
    for a in DTYPES[1:]:
        for each in (("float32", a, a), (a, "float32", a), (a, a, "float32")):
            yield Edge("dtypes of a_log, d, dt", activation=a, parameter=each)


def cases() -> Iterator[Case]:
    """Every case of this kernel."""
    for edge in (*dtype_edges(), *EDGES):
        yield Case(KERNEL, edge.name, edge.dtypes, partial(compare, edge))


def compare(edge: Edge, device: Device) -> list[Comparison]:
    """Run the case on a device."""
    return compare_call(edge, device, *build(edge))


def compare_call(
    edge: Edge, device: Device, inputs: StepInputs, mask: Array | None = None
) -> list[Comparison]:
    """Call the kernel with these inputs, and compare everything that it writes."""
    before = inputs.state.copy() if inputs.state is not None else np.empty(0)
    start, skipped = start_states(
        inputs.state_shape, inputs.state, edge.slots, edge.has_initial, edge.state
    )
    y, state, tape = run(edge, device, inputs, mask)
    active = np.ones(inputs.dt.shape[:2], bool) if mask is None else mask != 0
    made = Call(replace(inputs, state=start), active & ~skipped[:, None], skipped)
    found = [*compare_y(made, y), *compare_tape(made, tape)]
    if edge.slots:
        others = np.setdiff1d(np.arange(len(before)), edge.slots)
        found.append(same_bytes("other slots", state[others], before[others]))
        state = state[list(edge.slots)]
    if edge.advance:
        found += [compare_state(made, state), *compare_bytes(made, state, tape)]
    else:
        assert state is None
        found.append(same_bytes("state", inputs.state, before))
    return found


def build(edge: Edge) -> tuple[StepInputs, Array | None]:
    """Return the inputs, with padding in masked steps and NaN in states that are not read."""
    batch = edge.shape.batch
    pool = edge.shape._replace(batch=max(edge.slots) + 2) if edge.slots else edge.shape
    inputs = step_inputs(edge.shape, 1, edge.activation, edge.parameter, edge.state)
    inputs.state = step_inputs(pool, 2, state=edge.state).state if edge.with_state else None
    inputs.d = inputs.d if edge.with_d else None
    if inputs.state is not None and edge.has_initial:
        index = np.array(edge.slots or range(batch))
        inputs.state[index[~np.array(edge.has_initial) & (index >= 0)]] = np.nan
    if not edge.mask:
        return inputs, None
    given = np.array(edge.mask, np.int32 if max(edge.mask) > 1 else bool)
    mask = np.resize(given, (batch, edge.shape.steps))
    if edge.padding is not None:
        for each in (inputs.x, inputs.b, inputs.c, inputs.dt):
            each[mask == 0] = edge.padding
    return inputs, mask


def run(edge: Edge, device: Device, inputs: StepInputs, mask: Array | None) -> Any:
    """Call the kernel with poisoned outputs."""
    state = None
    if edge.advance and not edge.slots:
        state = poisoned(device, inputs.state_shape, dtype_of(edge.state))
    return record(
        device,
        inputs,
        mask,
        tape=edge.tape,
        advance=edge.advance,
        slots=edge.slots or None,
        has_initial=np.array(edge.has_initial) if edge.has_initial else None,
        out=(
            poisoned(device, inputs.x.shape, inputs.x.dtype),
            state,
            tape_out(edge, device, inputs),
        ),
    )


def tape_out(edge: Edge, device: Device, inputs: StepInputs) -> tuple[Array, Array] | None:
    """Return poisoned memory for the two arrays of the edge's tape."""
    series = inputs.dt.shape
    if edge.tape is None:
        return None
    if edge.tape == "factored":
        return poisoned(device, series, np.float32), poisoned(device, series, np.float32)
    return (
        poisoned(device, (*series, inputs.state_shape[3]), np.float32),
        poisoned(device, (*series, *inputs.state_shape[2:]), dtype_of(edge.dbx_log)),
    )
