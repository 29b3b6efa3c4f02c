"""What comes back, and where it was put."""

from typing import Any

import ml_dtypes
import numpy as np
import pytest

import deltatape
from deltatape import Device
from deltatape.verification.calls import call
from deltatape.verification.inputs import Shape, StepInputs, step_inputs

SHAPE = Shape(2, 3, 4, 2, 5, 7)


@pytest.fixture
def layer() -> StepInputs:
    return step_inputs(SHAPE)


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
