"""The promises of bytes, each as a comparison that any inputs can be put through."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import pairwise

import numpy as np

from deltatape import Device
from deltatape.verification.calls import invert, record, replay
from deltatape.verification.case import Array, Case
from deltatape.verification.comparisons import Comparison, same_bytes
from deltatape.verification.inputs import Shape, StepInputs, matrices, step_inputs


def replay_of_all(device: Device, inputs: StepInputs, tape: str) -> list[Comparison]:
    """Compare replay(T) with the state that record wrote."""
    _, state, kept = record(device, inputs, tape=tape)
    replayed = replay(device, inputs.state, kept, inputs.x.shape[1])
    return [same_bytes("state", replayed, state)]


def any_split(device: Device, inputs: StepInputs, bounds: Sequence[int]) -> list[Comparison]:
    """Compare record over T with record over the parts between bounds, for y and the state."""
    y, state, _ = record(device, inputs)
    parts, carried = [], inputs.state
    for start, stop in pairwise(bounds):
        part = replace(inputs.steps(start, stop), state=carried)
        part_y, carried, _ = record(device, part)
        parts.append(part_y)
    return [
        same_bytes("y", np.concatenate(parts, axis=1), y),
        same_bytes("state", carried, state),
    ]


def single_steps(device: Device, inputs: StepInputs, tape: str) -> list[Comparison]:
    """Compare replay(k) with the state after k calls of one step without a tape, for every k."""
    _, _, kept = record(device, inputs, tape=tape, advance=False)
    stepped, found = inputs.state, []
    for k in range(inputs.x.shape[1] + 1):
        replayed = replay(device, inputs.state, kept, k)
        found.append(same_bytes(f"state after {k}", replayed, stepped))
        if k < inputs.x.shape[1]:
            step = replace(inputs.steps(k, k + 1), state=stepped)
            _, stepped, _ = record(device, step, tape=None)
    return found


def alone_or_in_a_batch(device: Device, inputs: StepInputs) -> list[Comparison]:
    """Compare each sequence's y, state and decay with those of a call of its own."""
    y, state, tape = record(device, inputs)
    found = []
    for row in range(len(inputs.x)):
        alone_y, alone_state, alone_tape = record(device, inputs.row(row))
        found += [
            same_bytes("y", alone_y[0], y[row]),
            same_bytes("state", alone_state[0], state[row]),
            same_bytes("decay", alone_tape.decay[0], tape.decay[row]),
        ]
    return found


def as_on_cpu(device: Device, inputs: StepInputs) -> list[Comparison]:
    """Compare tapes, states, replays and inverses with those of the cpu device."""
    a = matrices((1, 130, 3, 64), 4)
    with Device("cpu") as cpu:
        results = [bytes_of(each, inputs, a) for each in (device, cpu)]
    return [same_bytes(name, results[0][name], results[1][name]) for name in results[1]]


def bytes_of(device: Device, inputs: StepInputs, a: Array) -> dict[str, Array]:
    """Return results whose bytes all devices share."""
    _, state, factored = record(device, inputs)
    _, _, dense = record(device, inputs, tape="dense", advance=False)
    k = np.arange(len(inputs.x)) % (inputs.x.shape[1] + 1)
    return {
        "state": state,
        "decay": factored.decay,
        "scale": factored.scale,
        "da_log": dense.da_log,
        "dbx_log": dense.dbx_log,
        "replay": replay(device, inputs.state, factored, k),
        "replay dense": replay(device, inputs.state, dense, k),
        "inverse": invert(device, a),
    }


def cases(device_name: str) -> Iterator[Case]:
    """Return the promises on a layer of odd sizes."""
    inputs = step_inputs(Shape(3, 9, 6, 3, 7, 40), 5)
    checks = {
        "split 1 + 5 + 3": partial(any_split, inputs=inputs, bounds=(0, 1, 6, 9)),
        "alone or in a batch": partial(alone_or_in_a_batch, inputs=inputs),
    }
    for tape in ("factored", "dense"):
        checks[f"replay(T), {tape}"] = partial(replay_of_all, inputs=inputs, tape=tape)
        checks[f"replay(k), {tape}"] = partial(single_steps, inputs=inputs, tape=tape)
    if device_name != "cpu":
        checks["bytes of the cpu"] = partial(as_on_cpu, inputs=inputs)
    for edge, check in checks.items():
        yield Case("promises", edge, "float32 float32 float32", check)
