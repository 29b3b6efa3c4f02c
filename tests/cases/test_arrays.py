"""Arrays as bindings got them wrong. Names begin with the case's id."""

from dataclasses import replace

import ml_dtypes
import numpy as np
import pytest

import deltatape
from deltatape import DenseTape, Device, FactoredTape
from deltatape.verification import ssm_replay
from deltatape.verification.calls import invert, record, replay
from deltatape.verification.inputs import Shape, StepInputs, matrices, step_inputs

FIELDS = ("x", "a_log", "b", "c", "d", "dt", "state")


def results(device: Device, inputs: StepInputs) -> list[bytes]:
    """Bytes of record, of the replay of its tape, and of an inverse."""
    y, state, tape = record(device, inputs, advance=True)
    rolled = replay(device, inputs.state, tape, 3)
    return [each.tobytes() for each in (y, state, tape.decay, tape.scale, rolled)]


@pytest.mark.parametrize("activation", ["float32", "float16"])
def test_p1_byte_swapped_inputs_are_read_as_what_they_are(device: Device, activation: str) -> None:
    inputs = step_inputs(Shape(), 1, activation)
    expected = results(device, inputs)
    for name in FIELDS:
        given = getattr(inputs, name)
        swapped = given.astype(given.dtype.newbyteorder(">"))
        assert results(device, replace(inputs, **{name: swapped})) == expected
    a = matrices((1, 20, 2, 16))
    assert invert(device, a.astype(">f4")).tobytes() == invert(device, a).tobytes()


def test_p1_byte_swapped_outputs_are_refused(device: Device) -> None:
    inputs = step_inputs(Shape())
    out = np.zeros(inputs.x.shape, ">f4")
    with pytest.raises(deltatape.Error, match=r"^\[ssm_step_record\] y: expected .*, got "):
        record(device, inputs, out=(out, None))
    assert not out.any()


def test_p2_read_only_arrays_are_inputs(device: Device) -> None:
    inputs = step_inputs(Shape())
    expected = results(device, inputs)
    for name in FIELDS:
        getattr(inputs, name).setflags(write=False)
    assert results(device, inputs) == expected
    from_bytes = np.frombuffer(inputs.x.tobytes(), np.float32).reshape(inputs.x.shape)
    assert results(device, replace(inputs, x=from_bytes)) == expected


def test_p2_read_only_arrays_are_not_outputs(device: Device) -> None:
    inputs = step_inputs(Shape())
    inputs.state.setflags(write=False)
    before = inputs.state.tobytes()
    with pytest.raises(ValueError, match=r"expected a writable array, got a read-only one"):
        record(device, inputs, out=(None, inputs.state))
    _, _, tape = record(device, inputs)
    with pytest.raises(ValueError, match=r"expected a writable array, got a read-only one"):
        replay(device, inputs.state, tape, 2, out=inputs.state)
    with pytest.raises(ValueError, match=r"expected a writable array, got a read-only one"):
        record(device, inputs, slots=[0, 1])
    assert inputs.state.tobytes() == before


def test_p3_strided_outputs_are_refused(device: Device) -> None:
    inputs = step_inputs(Shape())
    out = np.zeros((*inputs.x.shape[:3], 32), np.float32)
    with pytest.raises(ValueError, match=r"^\[ssm_step_record\] y: expected .*, got "):
        record(device, inputs, out=(out[..., ::2], None))
    a = matrices((1, 20, 2, 16))
    out_inverse = np.zeros((1, 40, 2, 16), np.float32)
    with pytest.raises(ValueError, match=r"^\[chunk_tri_solve_invert\] .*expected .*, got "):
        invert(device, a, out=out_inverse[:, ::2])
    assert not out.any()
    assert not out_inverse.any()


def test_p5_an_output_that_overlaps_another_argument_is_refused(device: Device) -> None:
    shape = Shape(2, 5, 4, 2, 16, 16)
    memory = np.zeros(4096, np.float32)
    state = memory[: 2 * 4 * 16 * 16].reshape(shape.state)
    shifted = memory[16 : 16 + state.size].reshape(shape.state)
    inputs = replace(step_inputs(shape), state=state)
    over_y = memory[: inputs.x.size].reshape(inputs.x.shape)
    tape = FactoredTape(np.ones((2, 5, 4), np.float32), None, inputs.x, inputs.b)
    calls = [
        lambda: record(device, inputs, out=(None, shifted)),
        lambda: record(device, inputs, out=(over_y, None)),
        lambda: record(device, inputs, out=(inputs.x, None)),
        lambda: record(device, replace(inputs, x=over_y), out=(None, state)),
        lambda: replay(device, state, tape, 2, out=shifted),
        lambda: replay(device, state, replace(tape, u=over_y), 2, out=state),
        lambda: invert(
            device,
            memory[:640].reshape(1, 20, 2, 16),
            out=shifted.reshape(-1)[:640].reshape(1, 20, 2, 16),
        ),
    ]
    for refused in calls:
        with pytest.raises(ValueError, match=r"^\[\w+\] \w+: expected .*, got "):
            refused()
    assert not memory.any()


def test_p5_a_dense_tape_may_not_lie_over_the_state(device: Device) -> None:
    states, tape, _ = ssm_replay.build(ssm_replay.Edge("overlap", tape="dense"))
    out = tape.dbx_log[:, 0]
    assert out.shape == states.shape
    with pytest.raises(ValueError, match=r"^\[ssm_replay\] \w+: expected .*, got "):
        replay(device, states, DenseTape(tape.da_log, tape.dbx_log), 5, out=out)


WRONG_DTYPES = [np.float64, np.int32, np.uint16, np.complex64, np.longdouble]


@pytest.mark.parametrize("dtype", WRONG_DTYPES)
@pytest.mark.parametrize("name", FIELDS)
def test_p7_other_types_are_never_cast(device: Device, name: str, dtype: type) -> None:
    inputs = step_inputs(Shape())
    given = getattr(inputs, name).astype(dtype)
    with pytest.raises(TypeError, match=rf"^\[ssm_step_record\] {name}: expected .*, got "):
        record(device, replace(inputs, **{name: given}))


@pytest.mark.parametrize("dtype", WRONG_DTYPES)
def test_p7_other_matrices_and_results_are_refused(device: Device, dtype: type) -> None:
    a = np.zeros((1, 20, 2, 16), np.float32)
    with pytest.raises(TypeError, match=r"^\[chunk_tri_solve_invert\] a: expected .*, got "):
        invert(device, a.astype(dtype))
    with pytest.raises(TypeError, match=r"^\[chunk_tri_solve_invert\] .*expected .*, got "):
        invert(device, a, dtype=dtype)


@pytest.mark.parametrize("name", ["b", "c"])
def test_p7_x_b_and_c_are_of_one_type(device: Device, name: str) -> None:
    inputs = step_inputs(Shape(), 1, "bfloat16")
    given = getattr(inputs, name).astype(np.float32)
    with pytest.raises(TypeError, match=rf"^\[ssm_step_record\] {name}: expected .*, got "):
        record(device, replace(inputs, **{name: given}))
    inputs.x.view(np.uint16)
    assert inputs.x.dtype == ml_dtypes.bfloat16


def test_p7_a_parameter_is_float32_or_of_the_activations_type(device: Device) -> None:
    inputs = step_inputs(Shape(), 1, "bfloat16")
    for name in ("a_log", "d", "dt"):
        given = getattr(inputs, name).astype(np.float16)
        with pytest.raises(TypeError, match=rf"^\[ssm_step_record\] {name}: expected .*, got "):
            record(device, replace(inputs, **{name: given}))


def test_p8_absurd_and_negative_sizes_have_readable_messages(device: Device) -> None:
    with pytest.raises(MemoryError, match=r"^\[alloc\] bytes: expected .*, got 106338"):
        device.empty((2**62, 2**59), np.float32)
    with pytest.raises(ValueError, match=r"expected sizes >= 0.*, got \(-1,\)"):
        device.empty(-1)
    with pytest.raises(ValueError, match=r"^\[tape_nbytes\] .*expected sizes >= 0, got "):
        deltatape.tape_nbytes("dense", 1, -1, 1, 1, 1)
    assert device.empty((np.int64(2), np.uint8(3))).shape == (2, 3)


def test_p9_a_missing_axis_is_named_with_the_shape_expected(device: Device) -> None:
    inputs = step_inputs(Shape())
    for name, symbols in {"x": "[B,T,H,Dh]", "b": "[B,T,G,Ds]", "dt": "[B,T,H]"}.items():
        given = getattr(inputs, name)[0]
        expected = rf"^\[ssm_step_record\] {name}: expected shape \{symbols[:-1]}\].*, got \("
        with pytest.raises(ValueError, match=expected):
            record(device, replace(inputs, **{name: given}))
    for scalar in (np.float32(1), np.zeros((), np.float32)):
        with pytest.raises(ValueError, match=r"x: expected shape \[B,T,H,Dh\], got \(\)"):
            record(device, replace(inputs, x=scalar))
    with pytest.raises(ValueError, match=r"a: expected shape \[B,T,H,BT\], got \(20, 16\)"):
        invert(device, np.zeros((20, 16), np.float32))
