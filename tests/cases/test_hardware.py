"""Memory, layouts and empty calls as other projects got them wrong, on every device."""

from dataclasses import replace

import numpy as np
import pytest

import deltatape
from deltatape import Device
from deltatape.verification.calls import invert, record, replay
from deltatape.verification.inputs import Shape, StepInputs, matrices, step_inputs

FIELDS = ("x", "a_log", "b", "c", "d", "dt", "state")


@pytest.mark.parametrize("size", ["batch", "heads"])
def test_k1_calls_without_elements_start_nothing(device: Device, size: str) -> None:
    shape = Shape(**{size: 0} | ({"groups": 1} if size == "heads" else {}))
    inputs = step_inputs(shape)
    before = device.counters["dispatches"]
    y, state, tape = record(device, inputs)
    rolled = replay(device, inputs.state, tape, np.zeros(shape.batch, int))
    assert y.size == 0
    assert state.shape == rolled.shape == shape.state
    assert device.counters["dispatches"] == before


@pytest.mark.parametrize("shape", [(0, 20, 3, 16), (2, 0, 3, 16), (2, 20, 0, 16)])
def test_k1_inverses_without_elements_start_nothing(device: Device, shape: tuple) -> None:
    before = device.counters["dispatches"]
    made = invert(device, np.zeros(shape, np.float32))
    assert made.shape == shape
    no_sequence = np.zeros((1, 0, 3, 16), np.float32)
    assert invert(device, no_sequence, cu_seqlens=[0]).size == 0
    assert device.counters["dispatches"] == before


@pytest.mark.parametrize("offset", [4, 8, 16, 60])
def test_k2_arrays_may_begin_anywhere(device: Device, offset: int) -> None:
    inputs = step_inputs(Shape())
    y, state, _ = record(device, inputs)

    def at_offset(array: np.ndarray) -> np.ndarray:
        memory = np.full(array.nbytes + offset + 64, 7, np.uint8)
        moved = memory[offset : offset + array.nbytes].view(array.dtype).reshape(array.shape)
        moved[...] = array
        return moved

    moved = StepInputs(*map(at_offset, inputs.args()))
    outputs = at_offset(np.zeros_like(y)), at_offset(np.zeros_like(state))
    record(device, moved, out=outputs)
    for got, expected in zip(outputs, (y, state), strict=True):
        assert got.tobytes() == expected.tobytes()
        memory = got.base
        while memory.base is not None:
            memory = memory.base
        assert (memory[:offset] == 7).all()
        assert (memory[offset + got.nbytes :] == 7).all()


def test_k2_an_argument_of_1536_bytes_lives_until_the_call_is_done(device: Device) -> None:
    shape = Shape(1, 3, 4, 2, 32, 8)
    assert step_inputs(shape).x.nbytes == 1536
    expected = record(device, step_inputs(shape))[1].tobytes()
    with device.stream() as stream:
        states = [
            deltatape.ssm_step_record(*step_inputs(shape).args(), stream=stream)[1]
            for _ in range(50)
        ]
    assert all(state.tobytes() == expected for state in states)


def test_k3_memory_that_there_is_not_is_a_memory_error(device: Device) -> None:
    # 1 TiB may be had as address space alone; this may not.
    with pytest.raises(MemoryError):
        device.empty(2**61, np.uint8)
    assert device.empty(16).shape == (16,)


@pytest.mark.parametrize("shape", [Shape(1, 3, 3, 1, 5, 7), Shape(3, 2, 5, 5, 33, 65)])
def test_k8_every_element_is_written(device: Device, shape: Shape) -> None:
    inputs = step_inputs(shape)
    outputs = [np.full(each.shape, np.nan, np.float32) for each in (inputs.x, inputs.state)]
    rates = np.full((2, *inputs.dt.shape), np.nan, np.float32)
    record(device, inputs, out=(*outputs, (rates[0], rates[1])))
    _, _, tape = record(device, inputs)
    rolled = replay(device, inputs.state, tape, 2, out=np.full_like(inputs.state, np.nan))
    for array in (*outputs, rates, rolled):
        assert np.isfinite(array).all()


def reversed_view(array: np.ndarray) -> np.ndarray:
    return np.ascontiguousarray(array[::-1])[::-1]


def swapped_view(array: np.ndarray) -> np.ndarray:
    return np.ascontiguousarray(array.swapaxes(0, -1)).swapaxes(0, -1)


def every_other(array: np.ndarray) -> np.ndarray:
    return np.repeat(array, 2, axis=-1)[..., ::2]


LAYOUTS = (reversed_view, swapped_view, every_other, np.asfortranarray)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("name", FIELDS)
def test_k9_other_layouts_are_read_as_what_they_show(device: Device, name: str, layout) -> None:
    inputs = step_inputs(Shape())
    y, state, tape = record(device, inputs)
    given = layout(getattr(inputs, name))
    assert given.tobytes() == getattr(inputs, name).tobytes()
    got_y, got_state, got_tape = record(device, replace(inputs, **{name: given}))
    assert got_y.tobytes() == y.tobytes()
    assert got_state.tobytes() == state.tobytes()
    rolled = replay(device, inputs.state, tape, 3)
    assert replay(device, inputs.state, got_tape, 3).tobytes() == rolled.tobytes()


@pytest.mark.parametrize("layout", LAYOUTS)
def test_k9_a_matrix_of_another_layout_is_read_as_what_it_shows(device: Device, layout) -> None:
    a = matrices((2, 20, 3, 16))
    expected = invert(device, a)
    got = invert(device, layout(a))
    assert got.tobytes() == expected.tobytes()


def test_k9_a_broadcast_array_is_read_as_what_it_shows(device: Device) -> None:
    inputs = step_inputs(Shape())
    same = np.broadcast_to(inputs.x[:, :1], inputs.x.shape)
    expected = record(device, replace(inputs, x=same.copy()))
    got = record(device, replace(inputs, x=same))
    assert got[0].tobytes() == expected[0].tobytes()
    assert got[1].tobytes() == expected[1].tobytes()
