"""Extreme values and 16-bit types as models got them wrong. Names begin with the case's id."""

from dataclasses import replace

import numpy as np
import pytest

from deltatape import Device, reference
from deltatape.verification import tolerances
from deltatape.verification.calls import record, replay
from deltatape.verification.comparisons import elementwise, normwise, wide
from deltatape.verification.inputs import DTYPES, Shape, StepInputs, dtype_of, step_inputs


def one_element(dt: list[float], a_log: float = 0.0, dtype: str = "float32") -> StepInputs:
    """A layer of one head, row and column with x = b = c = 0, that starts from 1."""
    steps = len(dt)
    nothing = np.zeros((1, steps, 1, 1), dtype_of(dtype))
    return StepInputs(
        x=nothing,
        a_log=np.full(1, a_log).astype(dtype_of(dtype)),
        b=nothing,
        c=nothing,
        d=None,
        dt=np.array(dt).reshape(1, steps, 1).astype(dtype_of(dtype)),
        state=np.ones((1, 1, 1, 1), np.float32),
    )


@pytest.mark.parametrize("dtype", DTYPES)
def test_n5_exp_of_a_log_is_taken_in_float32(device: Device, dtype: str) -> None:
    inputs = one_element([0.001, 0.01, 0.1], np.log(16), dtype)
    argument = -np.exp(wide(inputs.a_log)) * wide(inputs.dt)
    _, _, tape = record(device, inputs)
    bounds = tolerances.decay(argument)
    assert elementwise("decay", tape.decay, np.exp(argument), bounds).holds


def test_n6_an_infinite_rate_decays_to_nothing_or_not_at_all(device: Device) -> None:
    inputs = one_element([0.0, 0.5, 1e-30, 2.0], a_log=100)
    mask = np.array([[1, 1, 1, 0]])
    _, state, tape = record(device, inputs, mask)
    assert tape.decay.ravel().tolist() == [1, 0, 0, 1]
    assert state.item() == 0
    _, state, _ = record(device, inputs.steps(0, 1), np.array([[1]]))
    assert state.item() == 0
    idle = replace(inputs.steps(0, 1), state=inputs.state)
    assert record(device, idle)[1].item() == 1


def large_product() -> StepInputs:
    """x * dt * b is 75000, above the largest float16."""
    one = np.ones((1, 1, 1, 1), np.float16)
    zero, five = np.zeros(1, np.float16), np.full((1, 1, 1), 5, np.float16)
    state = np.zeros((1, 1, 1, 1), np.float32)
    return StepInputs(300 * one, zero, 50 * one, one, None, five, state)


def test_n8_a_product_beyond_float16_survives_on_both_tapes(device: Device) -> None:
    inputs = large_product()
    for kind in ("factored", "dense"):
        _, state, tape = record(device, inputs, tape=kind)
        assert state.item() == 75000
        assert replay(device, inputs.state, tape, 1).item() == 75000


def test_n8_a_float16_tape_saturates(device: Device) -> None:
    inputs = large_product()
    arrays = (np.empty((1, 1, 1, 1), np.float32), np.empty((1, 1, 1, 1, 1), np.float16))
    _, state, tape = record(device, inputs, tape="dense", out=(None, None, arrays))
    assert state.item() == 75000
    assert tape.dbx_log.item() == 65504
    negative = replace(inputs, x=-inputs.x)
    record(device, negative, tape="dense", out=(None, None, arrays))
    assert tape.dbx_log.item() == -65504


@pytest.mark.parametrize("dtype", DTYPES)
def test_n9_small_decays_add_up(device: Device, dtype: str) -> None:
    inputs = one_element([1e-3] * 1000, dtype=dtype)
    _, state, _ = record(device, inputs)
    exact = np.exp(-1000 * wide(inputs.dt)[0, 0, 0])
    bound = tolerances.normwise("float32", 1000)
    assert normwise("state", state, np.full((1, 1, 1, 1), exact), (2, 3), bound).holds
    assert abs(state.item() - 0.368) < 1e-3


def test_n9_a_float32_state_carries_them_from_call_to_call(device: Device) -> None:
    step = one_element([1e-3])
    state = step.state
    for _ in range(1000):
        _, state, _ = record(device, replace(step, state=state), tape=None)
    _, whole, _ = record(device, one_element([1e-3] * 1000))
    assert state.tobytes() == whole.tobytes()


@pytest.mark.parametrize("activation", DTYPES)
@pytest.mark.parametrize("state", DTYPES)
def test_n10_the_state_keeps_its_type(device: Device, activation: str, state: str) -> None:
    inputs = step_inputs(Shape(), 1, activation, activation, state)
    y, new, tape = record(device, inputs)
    assert new.dtype == dtype_of(state)
    assert y.dtype == dtype_of(activation)
    assert replay(device, inputs.state, tape, 3).dtype == dtype_of(state)
    assert record(device, replace(inputs, state=None))[1].dtype == np.float32


def test_n11_references_compute_in_float64() -> None:
    inputs = step_inputs(Shape(), 1, "bfloat16", "bfloat16", "bfloat16")
    y, state = reference.ssm_step_record(*inputs.args())[:2]
    assert y.dtype == state.dtype == np.float64
    a = np.zeros((1, 16, 1, 16), np.float16)
    assert reference.chunk_tri_solve_invert(a).dtype == np.float64


@pytest.mark.parametrize("seed", range(3))
def test_n13_the_bound_tells_a_16_bit_tape_from_ours(device: Device, seed: int) -> None:
    inputs = step_inputs(Shape(steps=16), seed)
    _, _, tape = record(device, inputs, tape="dense", advance=False)
    exact = reference.ssm_step_record(*inputs.args())[1]
    bound = tolerances.normwise("float32", 16)
    assert normwise("state", replay(device, inputs.state, tape, 16), exact, (2, 3), bound).holds
    rounded = tape.dbx_log.astype(dtype_of("bfloat16"))
    worse = replay(device, inputs.state, replace(tape, dbx_log=rounded), 16)
    assert not normwise("state", worse, exact, (2, 3), bound).holds


def test_n14_a_tiny_decay_is_zero_or_subnormal(device: Device) -> None:
    _, state, tape = record(device, one_element([90.0, 87.0, 104.0, 1000.0]))
    assert 0 <= tape.decay[0, 0, 0] <= 2.0**-126
    assert 0 <= tape.decay[0, 1, 0] <= 2e-38
    assert tape.decay[0, 2:, 0].tolist() == [0, 0]
    assert state.item() == 0
