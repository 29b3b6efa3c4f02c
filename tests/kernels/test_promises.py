"""Promises 1 to 5, each as an equality of bytes, on states with every kind of value."""

from dataclasses import replace

import numpy as np
import pytest

from deltatape import Device
from deltatape.verification import promises
from deltatape.verification.calls import invert, record, replay
from deltatape.verification.comparisons import failures
from deltatape.verification.inputs import Shape, StepInputs, matrices, step_inputs

SHAPES = (Shape(3, 9, 6, 3, 7, 40), Shape(1, 6, 5, 5, 17, 33), Shape(2, 8, 4, 1, 16, 128))


@pytest.fixture(params=SHAPES, ids=lambda shape: "x".join(map(str, shape)))
def layer(request: pytest.FixtureRequest, special_state) -> StepInputs:
    """Inputs with an idle step, a masked-out one by dt = 0, and a state of special values."""
    inputs = step_inputs(request.param, sum(request.param))
    inputs.dt[:, 2] = 0
    return replace(inputs, state=special_state(request.param.state))


@pytest.mark.parametrize("tape", ["factored", "dense"])
def test_1_replaying_everything_is_what_record_wrote(
    device: Device, layer: StepInputs, tape: str
) -> None:
    assert not failures(promises.replay_of_all(device, layer, tape))


@pytest.mark.parametrize("activation", ["float16", "bfloat16"])
@pytest.mark.parametrize("tape", ["factored", "dense"])
def test_1_holds_for_16_bit_activations(device: Device, activation: str, tape: str) -> None:
    inputs = step_inputs(Shape(2, 5, 3, 3, 7, 33), 4, activation, activation)
    assert not failures(promises.replay_of_all(device, inputs, tape))


@pytest.mark.parametrize("seed", range(4))
def test_2_any_split_of_the_steps_is_the_whole(
    device: Device, layer: StepInputs, seed: int
) -> None:
    steps = layer.x.shape[1]
    rng = np.random.default_rng(seed)
    inner = np.sort(rng.choice(np.arange(1, steps), seed + 1, replace=False))
    assert not failures(promises.any_split(device, layer, (0, *inner.tolist(), steps)))


def test_2_steps_one_at_a_time_are_the_whole(device: Device, layer: StepInputs) -> None:
    assert not failures(promises.any_split(device, layer, range(layer.x.shape[1] + 1)))


@pytest.mark.parametrize("tape", ["factored", "dense"])
def test_3_replaying_k_is_never_having_speculated(
    device: Device, layer: StepInputs, tape: str
) -> None:
    # k = 0 copies a NaN's bits, and a step that follows stores the one NaN: both are promised.
    assert not failures(promises.single_steps(device, layer, tape))


def test_4_a_sequence_does_not_depend_on_its_batch(device: Device, layer: StepInputs) -> None:
    assert not failures(promises.alone_or_in_a_batch(device, layer))


def test_4_a_sequence_does_not_depend_on_its_slot(device: Device, layer: StepInputs) -> None:
    batch = layer.x.shape[0]
    y, state, tape = record(device, layer)
    for slots in (range(batch), range(2 * batch, batch, -1)):
        apart = np.full((2 * batch + 1, 2, *layer.state.shape[1:]), np.nan, np.float32)
        pool = apart[:, 0]
        pool[list(slots)] = layer.state
        in_pool = replace(layer, state=pool)
        pool_y, pool, pool_tape = record(device, in_pool, slots=list(slots))
        assert pool_y.tobytes() == y.tobytes()
        assert pool[list(slots)].tobytes() == state.tobytes()
        assert pool_tape.decay.tobytes() == tape.decay.tobytes()
        assert np.isnan(apart[:, 1]).all()


def test_4_the_same_call_gives_the_same_bytes(device: Device, layer: StepInputs) -> None:
    a = matrices((1, 75, 3, 32), 2)
    first = promises.bytes_of(device, layer, a)
    for _ in range(3):
        again = promises.bytes_of(device, layer, a)
        assert {k: v.tobytes() for k, v in again.items()} == {
            k: v.tobytes() for k, v in first.items()
        }


def test_5_every_device_has_the_bytes_of_the_cpu(device: Device, layer: StepInputs) -> None:
    assert not failures(promises.as_on_cpu(device, layer))


def test_5_a_tape_recorded_on_the_cpu_replays_elsewhere(device: Device, layer: StepInputs) -> None:
    with Device("cpu") as cpu:
        _, state, tape = record(cpu, layer)
    replayed = replay(device, layer.state, tape, layer.x.shape[1])
    assert replayed.tobytes() == state.tobytes()


@pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16"])
def test_one_nan_is_stored(device: Device, special_state, dtype: str) -> None:
    inputs = step_inputs(Shape(), 6, dtype, state=dtype)
    inputs.state = special_state(inputs.state.shape, dtype)
    inputs.x[0, 1, 2, 3] = -np.float32("nan")
    y, state, dense = record(device, inputs, tape="dense")
    tape = dense.dbx_log
    replayed = replay(device, inputs.state, dense, 4)
    for array in (y, state, tape, replayed):
        bits = array.view(f"u{array.itemsize}")
        nans = np.unique(bits[np.isnan(array.astype(np.float32))])
        assert [hex(each) for each in nans] == [ONE_NAN_BITS[str(array.dtype)]]


ONE_NAN_BITS = {"float32": "0x7fc00000", "float16": "0x7e00", "bfloat16": "0x7fc0"}


def test_one_nan_is_stored_at_production_size(device: Device, production: Shape) -> None:
    inputs = step_inputs(production)
    inputs.state[..., 3] = np.inf
    inputs.a_log[...] = 100
    inputs.dt[...] = 1
    _, state, tape = record(device, inputs)
    replayed = replay(device, inputs.state, tape, 2)
    for array in (state[..., 3], replayed[..., 3]):
        assert set(np.unique(array.view(np.uint32))) == {0x7FC00000}


def test_the_dense_tape_holds_negative_zeros_where_nothing_is_added(device: Device) -> None:
    inputs = step_inputs(Shape())
    inputs.dt[0, 1] = 0
    mask = np.ones(inputs.dt.shape[:2], bool)
    mask[1, 3] = False
    _, _, tape = record(device, inputs, mask, tape="dense")
    for entry in (tape.dbx_log[0, 1], tape.dbx_log[1, 3]):
        assert entry.tobytes() == np.full_like(entry, -0.0).tobytes()
    for entry in (tape.da_log[0, 1], tape.da_log[1, 3]):
        assert entry.tobytes() == np.ones_like(entry).tobytes()


def test_an_inverse_does_not_depend_on_its_neighbours(device: Device) -> None:
    a = matrices((2, 96, 3, 32), 3)
    whole = invert(device, a)
    for row, head in ((0, 1), (1, 2)):
        part = np.ascontiguousarray(a[row : row + 1, 32:64, head : head + 1])
        alone = invert(device, part)
        assert alone[0, :, 0].tobytes() == whole[row, 32:64, head].tobytes()
