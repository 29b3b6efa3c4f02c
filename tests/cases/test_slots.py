"""Pools of states as engines got them wrong. A test's name begins with the case's id."""

from dataclasses import replace

import numpy as np
import pytest

from deltatape import Device
from deltatape.verification.calls import record, replay
from deltatape.verification.case import poisoned
from deltatape.verification.inputs import Shape, normal, step_inputs


def pool_of(shape: Shape, states: int) -> np.ndarray:
    return normal(np.random.default_rng(5), (states, *shape.state[1:]))


def test_r9_slot_0_is_a_slot_and_minus_1_skips(device: Device, cell: Shape) -> None:
    shape = cell._replace(batch=3, steps=2)
    inputs = replace(step_inputs(shape), state=pool_of(shape, 4))
    before = inputs.state.copy()
    _, pool, _ = record(device, inputs, slots=[0, -1, 3])
    assert pool is inputs.state
    assert pool[[1, 2]].tobytes() == before[[1, 2]].tobytes()
    for row, slot in ((0, 0), (2, 3)):
        alone = replace(inputs.row(row), state=before[slot : slot + 1])
        assert record(device, alone)[1][0].tobytes() == pool[slot].tobytes()


def test_r10_skipped_rows_leave_the_state_and_write_zeros(device: Device) -> None:
    shape = Shape(3)
    inputs = replace(step_inputs(shape), state=pool_of(shape, 4))
    before = inputs.state.copy()
    y = poisoned(device, inputs.x.shape, np.float32)
    slots = [-1, 2, -1]
    _, pool, tape = record(device, inputs, slots=slots, out=(y, None))
    assert y[[0, 2]].tobytes() == np.zeros_like(y[[0, 2]]).tobytes()
    assert np.isfinite(y[1]).all()
    assert pool[[0, 1, 3]].tobytes() == before[[0, 1, 3]].tobytes()
    assert (tape.decay[[0, 2]] == 1).all()
    assert tape.scale[[0, 2]].tobytes() == np.zeros_like(tape.scale[[0, 2]]).tobytes()
    rolled = before.copy()
    replay(device, rolled, tape, 5, slots=slots)
    assert rolled.tobytes() == pool.tobytes()


@pytest.mark.parametrize("slots", [None, [3, 0]])
def test_r11_a_recycled_states_nan_reaches_nobody(device: Device, cell: Shape, slots) -> None:
    inputs = step_inputs(cell._replace(batch=2))
    fresh_y, fresh, _ = record(device, replace(inputs, state=None))
    never_written = np.full((4 if slots else 2, *cell.state[1:]), np.nan, np.float32)
    recycled = replace(inputs, state=never_written)
    y, state, _ = record(device, recycled, has_initial=[False, False], slots=slots)
    assert y.tobytes() == fresh_y.tobytes()
    assert (state[slots] if slots else state).tobytes() == fresh.tobytes()


def test_v8_a_pool_whose_states_lie_apart_is_used_in_place(device: Device) -> None:
    shape = Shape(3, 4, 4, 2, 8, 32)
    inputs = step_inputs(shape)
    apart = np.full((5, 2, *shape.state[1:]), np.nan, np.float32)
    pool = apart[:, 0]
    pool[...] = normal(np.random.default_rng(1), pool.shape)
    packed = pool.copy()
    slots = [4, 0, 2]
    y, _, tape = record(device, replace(inputs, state=packed), slots=slots)
    got_y, got, _ = record(device, replace(inputs, state=pool), slots=slots)
    assert got is pool
    assert got_y.tobytes() == y.tobytes()
    assert pool.tobytes() == packed.tobytes()
    replay(device, packed, tape, [1, 2, 3], slots=slots)
    replay(device, pool, tape, [1, 2, 3], slots=slots)
    assert pool.tobytes() == packed.tobytes()
    assert np.isnan(apart[:, 1]).all()


def test_v8_states_whose_columns_lie_apart_are_copied_or_refused(device: Device) -> None:
    shape = Shape(2, 4, 4, 2, 8, 32)
    inputs = step_inputs(shape)
    wide = np.full((*shape.state[:3], 48), np.nan, np.float32)
    wide[..., :32] = inputs.state
    _, expected, _ = record(device, inputs)
    _, got, _ = record(device, replace(inputs, state=wide[..., :32]))
    assert got.tobytes() == expected.tobytes()
    with pytest.raises(ValueError, match=r"expected .*, got "):
        record(device, replace(inputs, state=wide[..., :32]), slots=[0, 1])
    assert np.isnan(wide[..., 32:]).all()
