"""What the array policy takes, and what it gives back."""

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


def test_what_is_given_as_out_comes_back(device: Device, layer: StepInputs) -> None:
    y, state = np.empty_like(layer.x), np.empty_like(layer.state)
    decay, scale = np.empty((2, 2, 3, 4), np.float32)
    out = (y, state, (decay, scale))
    got = call(device, deltatape.ssm_step_record, *layer.args(), out=out)
    assert got[0] is y
    assert got[1] is state
    assert got[2].decay is decay
    assert got[2].scale is scale
    expected = call(device, deltatape.ssm_step_record, *layer.args())
    assert y.tobytes() == expected[0].tobytes()
    assert state.tobytes() == expected[1].tobytes()
    assert decay.tobytes() == expected[2].decay.tobytes()
    assert scale.tobytes() == expected[2].scale.tobytes()
    assert call(device, deltatape.ssm_replay, layer.state, got[2], 1, out=state) is state
    a = np.ones((1, 16, 1, 16), np.float32)
    assert call(device, deltatape.chunk_tri_solve_invert, a, out=a) is a


def test_one_array_of_a_tape_may_be_given(device: Device, layer: StepInputs) -> None:
    scale = np.empty((2, 3, 4), np.float32)
    out = (None, None, (None, scale))
    _, _, tape = call(device, deltatape.ssm_step_record, *layer.args(), out=out)
    assert tape.scale is scale
    assert tape.decay.shape == scale.shape


@pytest.mark.parametrize("dtype", ["float16", ml_dtypes.bfloat16])
def test_a_dense_tape_of_16_bits_is_the_callers_choice(
    device: Device, layer: StepInputs, dtype: Any
) -> None:
    options: dict[str, Any] = {"tape": "dense"}
    _, _, exact = call(device, deltatape.ssm_step_record, *layer.args(), **options)
    options["out"] = (None, None, (None, np.empty(exact.dbx_log.shape, dtype)))
    _, _, tape = call(device, deltatape.ssm_step_record, *layer.args(), **options)
    assert tape.dbx_log.tobytes() == exact.dbx_log.astype(dtype).tobytes()
    assert tape.da_log.tobytes() == exact.da_log.tobytes()


def test_nothing_is_recorded_or_advanced_where_it_is_not_asked_for(
    device: Device, layer: StepInputs
) -> None:
    before = layer.state.tobytes()
    expected = call(device, deltatape.ssm_step_record, *layer.args())
    options: dict[str, Any] = {"tape": None, "advance": False}
    y, state, tape = call(device, deltatape.ssm_step_record, *layer.args(), **options)
    assert state is None
    assert tape is None
    assert layer.state.tobytes() == before
    assert y.tobytes() == expected[0].tobytes()
    y, state, _ = call(
        device, deltatape.ssm_step_record, *layer.args(), slots=[1, 0], advance=False
    )
    assert state is None
    assert layer.state.tobytes() == before


def test_without_a_state_it_is_zeros_of_float32(device: Device) -> None:
    layer = step_inputs(SHAPE, activation="bfloat16")
    arguments = layer.args()[:-1]
    _, state, _ = call(device, deltatape.ssm_step_record, *arguments, None)
    assert state.dtype == np.float32
    zeros = np.zeros(layer.state_shape, np.float32)
    _, expected, _ = call(device, deltatape.ssm_step_record, *arguments, zeros)
    assert state.tobytes() == expected.tobytes()
    chosen = np.empty(layer.state_shape, np.float16)
    out = (None, chosen)
    assert call(device, deltatape.ssm_step_record, *arguments, None, out=out)[1] is chosen


def test_results_are_arrays_like_any_other(device: Device, layer: StepInputs) -> None:
    y, state, tape = call(device, deltatape.ssm_step_record, *layer.args())
    inverse = call(device, deltatape.chunk_tri_solve_invert, np.ones((1, 9, 1, 16), np.float16))
    assert inverse.dtype == np.float32
    for array in (y, state, tape.decay, tape.scale, inverse):
        assert type(array) is np.ndarray
        assert array.flags.carray
        assert array.ctypes.data % 16 == 0


def test_a_subclass_is_read_as_the_array_that_it_is(device: Device, tmp_path: Any) -> None:
    a = np.memmap(tmp_path / "a", np.float32, "w+", shape=(1, 16, 1, 16))
    a[:] = 1
    expected = call(device, deltatape.chunk_tri_solve_invert, np.array(a))
    assert call(device, deltatape.chunk_tri_solve_invert, a).tobytes() == expected.tobytes()
