"""Masks and padding as models got them wrong. A test's name begins with the case's id."""

from dataclasses import replace

import numpy as np
import pytest

from deltatape import Device
from deltatape.verification import ssm_replay, ssm_step_record
from deltatape.verification.calls import record, replay
from deltatape.verification.comparisons import failures
from deltatape.verification.inputs import Shape, step_inputs
from deltatape.verification.ssm_step_record import Edge


def test_m1_left_padding_changes_nothing(device: Device, cell: Shape) -> None:
    padded = step_inputs(cell._replace(steps=5))
    mask = np.zeros((cell.batch, 5), bool)
    mask[:, 3:] = True
    alone_y, alone, _ = record(device, replace(padded.steps(3, 5), state=padded.state))
    y, state, _ = record(device, padded, mask)
    assert state.tobytes() == alone.tobytes()
    assert y[:, 3:].tobytes() == alone_y.tobytes()


def test_m2_right_padding_does_not_decay(device: Device) -> None:
    inputs = step_inputs(Shape(1, 5, 2, 1, 4, 8))
    inputs.a_log[...] = 0
    inputs.dt[...] = 0.1
    inputs.x[:, 2:] = 0
    inputs.b[:, 2:] = 0
    inputs.state[...] = 1
    mask = np.array([[1, 1, 0, 0, 0]], bool)
    _, two_steps, _ = record(device, replace(inputs.steps(0, 2), state=inputs.state))
    _, state, _ = record(device, inputs, mask)
    assert state.tobytes() == two_steps.tobytes()


def test_m3_the_mask_counts_at_batch_1_as_at_batch_2(device: Device, cell: Shape) -> None:
    inputs = step_inputs(cell._replace(batch=2))
    mask = np.array([[1, 0, 0, 1, 1, 0], [0, 1, 1, 0, 1, 1]], bool)
    y, state, _ = record(device, inputs, mask)
    for row in range(2):
        alone_y, alone, _ = record(device, inputs.row(row), mask[row : row + 1])
        assert alone_y[0].tobytes() == y[row].tobytes()
        assert alone[0].tobytes() == state[row].tobytes()


def test_m4_the_mask_is_indexed_by_the_absolute_step(device: Device) -> None:
    inputs = step_inputs(Shape(1, 300, 2, 1, 4, 32))
    mask = np.zeros((1, 300), bool)
    mask[:, 280:] = True
    _, expected, _ = record(device, replace(inputs.steps(280, 300), state=inputs.state))
    _, state, tape = record(device, inputs, mask)
    assert state.tobytes() == expected.tobytes()
    assert replay(device, inputs.state, tape, 300).tobytes() == expected.tobytes()


@pytest.mark.parametrize("tape", ["factored", "dense", None])
def test_m6_y_is_written_at_masked_steps(device: Device, tape: str | None) -> None:
    edge = Edge("masked", Shape(2, 3), mask=(1, 0, 1), tape=tape)
    assert not failures(ssm_step_record.compare(edge, device))


PADDING = [np.nan, np.inf, -np.inf, 1e38]


@pytest.mark.parametrize("padding", PADDING)
@pytest.mark.parametrize("tape", ["factored", "dense"])
def test_m7_padding_reaches_no_state_tape_or_other_row(
    device: Device, cell: Shape, tape: str, padding: float
) -> None:
    clean = step_inputs(cell)
    mask = np.resize([True, False, True, True, False], (cell.batch, cell.steps))
    clean_y, expected, _ = record(device, clean, mask, tape=tape)
    dirty = step_inputs(cell)
    for each in (dirty.x, dirty.b, dirty.c, dirty.dt):
        each[~mask] = padding
    y, state, kept = record(device, dirty, mask, tape=tape)
    assert state.tobytes() == expected.tobytes()
    assert y[mask].tobytes() == clean_y[mask].tobytes()
    assert replay(device, clean.state, kept, cell.steps).tobytes() == expected.tobytes()
    decay = (kept.decay if tape == "factored" else kept.da_log)[~mask]
    added, nothing = (kept.scale, 0.0) if tape == "factored" else (kept.dbx_log, -0.0)
    assert decay.tobytes() == np.ones_like(decay).tobytes()
    assert added[~mask].tobytes() == np.full_like(added[~mask], nothing).tobytes()


MASKS = {
    "bool": np.bool_,
    "int8": np.int8,
    "uint8": np.uint8,
    "int16": np.int16,
    "int32": np.int32,
    "uint32": np.uint32,
    "int64": np.int64,
    "uint64": np.uint64,
}


@pytest.mark.parametrize("dtype", MASKS.values(), ids=MASKS.keys())
def test_m8_every_integer_is_a_mask_and_nonzero_is_active(device: Device, dtype: type) -> None:
    inputs = step_inputs(Shape())
    pattern = np.resize([True, False, True, True, False], (2, 5))
    y, state, tape = record(device, inputs, pattern)
    active = [1, 2] if dtype in (np.bool_, np.int8, np.uint8) else [1, 2, 256, 1 << 8 | 1 << 9]
    if np.dtype(dtype).itemsize >= 4:
        active.append(1 << 16)
    if np.dtype(dtype).itemsize == 8:
        active.append(1 << 32)
    for value in active:
        mask = np.where(pattern, dtype(value), dtype(0))
        got_y, got, _ = record(device, inputs, mask)
        assert got_y.tobytes() == y.tobytes()
        assert got.tobytes() == state.tobytes()
        rolled = replay(device, inputs.state, tape, 5, mask=mask)
        assert rolled.tobytes() == state.tobytes()


def test_m8_a_row_that_is_all_masked_returns_the_snapshot(device: Device, cell: Shape) -> None:
    inputs = step_inputs(cell)
    mask = np.ones((cell.batch, cell.steps), bool)
    mask[0] = False
    _, state, tape = record(device, inputs, mask)
    assert state[0].tobytes() == inputs.state[0].tobytes()
    assert replay(device, inputs.state, tape, 6)[0].tobytes() == inputs.state[0].tobytes()


def test_m8_a_float_mask_is_refused(device: Device) -> None:
    inputs = step_inputs(Shape())
    mask = np.ones((2, 5), np.float32)
    with pytest.raises(TypeError, match=r"^\[ssm_step_record\] mask: expected .*, got float32"):
        record(device, inputs, mask)
    states, tape, _ = ssm_replay.build(ssm_replay.Edge("mask"))
    with pytest.raises(TypeError, match=r"^\[ssm_replay\] mask: expected .*, got float32"):
        replay(device, states, tape, 3, mask=mask)


@pytest.mark.parametrize("kind", ["factored", "dense"])
def test_m9_the_tape_holds_its_mask_and_another_is_added(device: Device, kind: str) -> None:
    inputs = step_inputs(Shape(1, 5))
    first, second = np.array([[1, 1, 0, 1, 0]], bool), np.array([[1, 0, 1, 1, 1]], bool)
    _, masked, tape = record(device, inputs, first, tape=kind)
    assert replay(device, inputs.state, tape, 5).tobytes() == masked.tobytes()
    assert replay(device, inputs.state, tape, 5, mask=first).tobytes() == masked.tobytes()
    _, both, _ = record(device, inputs, first & second)
    assert replay(device, inputs.state, tape, 5, mask=second).tobytes() == both.tobytes()
    _, _, unmasked = record(device, inputs, tape=kind)
    assert replay(device, inputs.state, unmasked, 5, mask=first).tobytes() == masked.tobytes()
