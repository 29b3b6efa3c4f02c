"""ssm_step_record against its reference, and what becomes of its arguments."""

from dataclasses import replace

import numpy as np
import pytest

import deltatape
from deltatape import Device
from deltatape.verification import ssm_step_record
from deltatape.verification.calls import call, record
from deltatape.verification.case import Case, poisoned
from deltatape.verification.comparisons import failures, same_bytes
from deltatape.verification.inputs import DTYPES, Shape, step_inputs
from deltatape.verification.ssm_step_record import Edge


@pytest.mark.parametrize("case", [*ssm_step_record.cases()], ids=lambda case: case.name)
def test_equals_the_reference(device: Device, case: Case) -> None:
    assert not failures(case.compare(device))


@pytest.mark.parametrize("state", DTYPES)
@pytest.mark.parametrize("activation", ["float32", "bfloat16"])
def test_equals_the_reference_at_production_size(
    device: Device, production: Shape, activation: str, state: str
) -> None:
    edge = Edge("production", production, activation, state=state)
    assert not failures(ssm_step_record.compare(edge, device))


@pytest.mark.parametrize("dtype", DTYPES)
def test_equals_the_reference_on_a_trained_layer(device: Device, trained, dtype: str) -> None:
    edge = Edge("trained", activation=dtype)
    assert not failures(ssm_step_record.compare_call(edge, device, trained(dtype)))


@pytest.mark.parametrize("tape", ["factored", "dense", None])
def test_state_in_place_has_the_bytes_of_a_new_one(device: Device, tape: str | None) -> None:
    inputs = step_inputs(Shape())
    _, new, _ = record(device, inputs, tape=tape)
    _, same, _ = record(device, inputs, tape=tape, out=(None, inputs.state))
    assert same is inputs.state
    assert same.tobytes() == new.tobytes()


def test_without_d_a_masked_x_reaches_no_output(device: Device) -> None:
    inputs = step_inputs(Shape())
    inputs.x[:, 1] = np.nan
    mask = np.ones(inputs.x.shape[:2], bool)
    mask[:, 1] = False
    y, _, _ = record(device, replace(inputs, d=None), mask=mask)
    assert np.isfinite(y).all()


def test_outputs_are_filled_and_returned(device: Device) -> None:
    inputs = step_inputs(Shape())
    y = poisoned(device, inputs.x.shape, np.float32)
    state = poisoned(device, inputs.state.shape, np.float32)
    got_y, got_state, _ = record(device, inputs, out=(y, state))
    assert got_y is y
    assert got_state is state
    assert np.isfinite(y).all()
    assert np.isfinite(state).all()


def test_a_state_that_is_not_to_be_written_is_left_alone(device: Device) -> None:
    inputs = step_inputs(Shape())
    before = inputs.state.tobytes()
    full_y, _, full_tape = record(device, inputs)
    y, state, tape = record(device, inputs, advance=False)
    assert state is None
    assert inputs.state.tobytes() == before
    assert y.tobytes() == full_y.tobytes()
    assert tape.decay.tobytes() == full_tape.decay.tobytes()


def test_the_factored_tape_refers_to_x_and_b(device: Device) -> None:
    inputs = step_inputs(Shape())
    _, _, tape = record(device, inputs)
    assert np.shares_memory(tape.u, inputs.x)
    assert np.shares_memory(tape.v, inputs.b)
    assert tape.nbytes == sum(a.nbytes for a in (tape.decay, tape.scale, inputs.x, inputs.b))


def test_inputs_are_only_read(device: Device) -> None:
    inputs = step_inputs(Shape())
    before = [np.copy(each) for each in inputs.args()]
    for tape in ("factored", "dense", None):
        record(device, inputs, tape=tape)
    for given, kept in zip(inputs.args(), before, strict=True):
        assert same_bytes("input", given, kept).holds


def test_without_a_state_it_starts_from_positive_zeros(device: Device) -> None:
    inputs = step_inputs(Shape())
    zeros = replace(inputs, state=np.zeros_like(inputs.state))
    for got, expected in zip(
        record(device, replace(inputs, state=None))[:2], record(device, zeros)[:2], strict=True
    ):
        assert got.tobytes() == expected.tobytes()


def test_a_state_without_steps_is_copied_bit_for_bit(device: Device, special_state) -> None:
    inputs = replace(step_inputs(Shape(2, 0)), state=special_state(Shape().state))
    _, state, _ = record(device, inputs)
    assert state.tobytes() == inputs.state.tobytes()


def test_strong_decays_lead_to_zero_and_dt_0_to_none(device: Device) -> None:
    inputs = step_inputs(Shape(1, 6, 3, 1, 4, 16))
    inputs.a_log[...] = [0, 5, 100]
    inputs.dt[...] = np.array([0, 1e-30, 60, 0, 90, 1000]).reshape(1, 6, 1)
    for tape in ("factored", "dense"):
        assert not failures(ssm_step_record.compare_call(Edge("decays", tape=tape), device, inputs))
    _, _, kept = record(device, inputs)
    assert kept.decay[0, [0, 3]].tolist() == [[1, 1, 1]] * 2
    assert kept.decay[0, 1].tolist() == [1, 1, 0]
    assert kept.decay[0, 5].tolist() == [0, 0, 0]


def test_a_float16_tape_saturates(device: Device) -> None:
    inputs = step_inputs(Shape(1, 2, 3, 1, 8, 48), activation="float16")
    inputs.x[:, :, 1] = 6e4
    inputs.dt[:, :, 1] = 5
    inputs.c[...] = inputs.d[...] = 0
    edge = Edge("large products", activation="float16", tape="dense", dbx_log="float16")
    assert not failures(ssm_step_record.compare_call(edge, device, inputs))


def test_a_stream_orders_record_before_replay(device: Device) -> None:
    inputs = step_inputs(Shape())
    _, expected, _ = record(device, inputs)
    with device.stream() as stream:
        _, _, tape = deltatape.ssm_step_record(*inputs.args(), advance=False, stream=stream)
        state = deltatape.ssm_replay(inputs.state, tape, 5, stream=stream)
    assert state.tobytes() == expected.tobytes()


def test_a_call_without_a_stream_runs_on_the_default_device() -> None:
    inputs = step_inputs(Shape())
    y, state, _ = deltatape.ssm_step_record(*inputs.args())
    with Device() as device:
        expected = call(device, deltatape.ssm_step_record, *inputs.args())
    assert y.tobytes() == expected[0].tobytes()
    assert state.tobytes() == expected[1].tobytes()
