"""Which arrays are taken, and how they are read."""

from typing import Any

import ml_dtypes
import numpy as np
import pytest

import deltatape
from deltatape import Device
from deltatape.verification.calls import call
from deltatape.verification.inputs import Shape, StepInputs, step_inputs

SHAPE = Shape(2, 3, 4, 2, 5, 7)
INTEGERS = [np.int8, np.uint8, np.int16, np.uint16, np.int32, np.uint32, np.int64, np.uint64]


@pytest.fixture
def layer() -> StepInputs:
    return step_inputs(SHAPE)


def padded(states: np.ndarray, padding: int = 3) -> np.ndarray:
    """The same states, each followed by `padding` elements that belong to nobody."""
    size = int(np.prod(states.shape[1:]))
    memory = np.full((len(states), size + padding), 77, states.dtype)
    memory[:, :size] = states.reshape(len(states), size)
    return memory[:, :size].reshape(states.shape)


def test_a_padded_view_is_not_contiguous(layer: StepInputs) -> None:
    view = padded(layer.state)
    assert view.base is not None
    assert not view.flags.c_contiguous


@pytest.mark.parametrize("dtype", ["float32", "float16", ml_dtypes.bfloat16])
def test_a_padded_pool_is_updated_in_place(device: Device, layer: StepInputs, dtype: Any) -> None:
    pool = np.concatenate((layer.state, layer.state[::-1])).astype(dtype)
    arguments = (*layer.args()[:-1],)
    packed, apart = pool.copy(), padded(pool)
    for states in (packed, apart):
        options = {"slots": [3, 0], "tape": "factored"}
        _, same, tape = call(device, deltatape.ssm_step_record, *arguments, states, **options)
        assert same is states
        assert call(device, deltatape.ssm_replay, states, tape, [1, 3], slots=[1, 2]) is states
    assert apart.tobytes() == packed.tobytes()
    assert apart[0].tobytes() != pool[0].tobytes()
    memory = apart.base
    assert (memory.reshape(len(pool), -1)[:, -3:] == 77).all()


def test_padded_states_are_read_and_written_in_place_without_slots(
    device: Device, layer: StepInputs
) -> None:
    state = padded(layer.state)
    _, new, _ = call(device, deltatape.ssm_step_record, *layer.args())
    options = {"out": (None, state)}
    _, same, _ = call(device, deltatape.ssm_step_record, *layer.args()[:-1], state, **options)
    assert same is state
    assert state.tobytes() == new.tobytes()
    assert (state.base.reshape(len(state), -1)[:, -3:] == 77).all()


@pytest.mark.parametrize(
    "layout",
    [
        lambda a: np.broadcast_to(a[:1], a.shape),
        lambda a: a[::-1],
        lambda a: np.repeat(a, 2, 0)[::2],
        np.asfortranarray,
        lambda a: a.swapaxes(2, 3).copy().swapaxes(2, 3),
    ],
    ids=["broadcast", "reversed", "every other", "Fortran", "transposed"],
)
def test_states_of_any_layout_are_read(device: Device, layer: StepInputs, layout: Any) -> None:
    _, _, tape = call(device, deltatape.ssm_step_record, *layer.args())
    state = layout(layer.state)
    expected = call(device, deltatape.ssm_replay, state.copy(), tape, 2)
    assert call(device, deltatape.ssm_replay, state, tape, 2).tobytes() == expected.tobytes()


@pytest.mark.parametrize("dtype", INTEGERS)
def test_k_and_slots_are_integers_of_any_width(
    device: Device, layer: StepInputs, dtype: type
) -> None:
    _, _, tape = call(device, deltatape.ssm_step_record, *layer.args())
    expected = call(device, deltatape.ssm_replay, layer.state.copy(), tape, [2, 2], slots=[1, 0])
    for k in (2, dtype(2), np.array(2, dtype), np.array([2, 2], dtype), [dtype(2), dtype(2)]):
        slots = np.array([1, 0], dtype)
        got = call(device, deltatape.ssm_replay, layer.state.copy(), tape, k, slots=slots)
        assert got.tobytes() == expected.tobytes()


def test_integers_may_lie_anywhere(device: Device, layer: StepInputs) -> None:
    _, _, tape = call(device, deltatape.ssm_step_record, *layer.args())
    unaligned = np.frombuffer(b"." + np.array([1, 3], np.int32).tobytes(), np.int32, offset=1)
    assert not unaligned.flags.aligned
    expected = call(device, deltatape.ssm_replay, layer.state, tape, [1, 3])
    for k in (np.array([1, 9, 3, 9], np.int32)[::2], np.array([1, 3], ">i4"), (1, 3), unaligned):
        assert call(device, deltatape.ssm_replay, layer.state, tape, k).tobytes() == (
            expected.tobytes()
        )


@pytest.mark.parametrize("dtype", [bool, *INTEGERS, ">i4", ">u2"])
@pytest.mark.parametrize(
    "layout",
    [np.asarray, np.asfortranarray, lambda a: np.repeat(a, 2, 1)[:, ::2], lambda a: a[:, ::-1]],
    ids=["packed", "Fortran", "strided", "reversed"],
)
def test_a_mask_may_have_any_layout_and_integer_type(
    device: Device, layer: StepInputs, layout: Any, dtype: Any
) -> None:
    mask = layout(np.array([[1, 0, 1], [1, 1, 0]]).astype(dtype) * 64)
    exact = np.ascontiguousarray(mask.astype(bool))
    expected = call(device, deltatape.ssm_step_record, *layer.args(), exact)
    got = call(device, deltatape.ssm_step_record, *layer.args(), mask)
    assert got[1].tobytes() == expected[1].tobytes()
    assert got[2].scale.tobytes() == expected[2].scale.tobytes()
    _, _, tape = call(device, deltatape.ssm_step_record, *layer.args())
    rolled = call(device, deltatape.ssm_replay, layer.state, tape, 3, mask=mask)
    assert rolled.tobytes() == expected[1].tobytes()


@pytest.mark.parametrize(
    "has_initial",
    [
        [True, False],
        np.array([1, 0], np.uint8),
        np.array([256, 0], np.int32),
        np.array([2**40, 0]),
        np.array([True, True, False])[::2],
        [-1, 0],
    ],
)
def test_has_initial_is_nonzero(device: Device, layer: StepInputs, has_initial: Any) -> None:
    started = layer.state.copy()
    started[1] = 0
    expected = call(device, deltatape.ssm_step_record, *layer.args()[:-1], started)
    layer.state[1] = np.nan
    got = call(device, deltatape.ssm_step_record, *layer.args(), has_initial=has_initial)
    for index in range(2):
        assert got[index].tobytes() == expected[index].tobytes()


def test_a_subclass_is_read_as_the_array_that_it_is(device: Device, tmp_path: Any) -> None:
    a = np.memmap(tmp_path / "a", np.float32, "w+", shape=(1, 16, 1, 16))
    a[:] = 1
    expected = call(device, deltatape.chunk_tri_solve_invert, np.array(a))
    assert call(device, deltatape.chunk_tri_solve_invert, a).tobytes() == expected.tobytes()
