"""Rollback as engines got it wrong. A test's name begins with the case's id."""

from dataclasses import replace

import numpy as np
import pytest

import deltatape
from deltatape import Device, FactoredTape, reference
from deltatape.verification import ssm_replay
from deltatape.verification.calls import record, replay
from deltatape.verification.case import poisoned
from deltatape.verification.comparisons import failures
from deltatape.verification.inputs import Shape, normal, step_inputs
from deltatape.verification.promises import any_split
from deltatape.verification.ssm_replay import Edge


def test_r1_k_counts_tape_entries_from_none_to_all(device: Device, cell: Shape) -> None:
    shape = cell._replace(steps=5)
    for k in range(6):
        assert not failures(ssm_replay.compare(Edge("k", shape, k=(k,) * shape.batch), device))


@pytest.mark.parametrize("taps", [1, 2, 4])
def test_r2_the_window_is_rolled_back_with_the_state(taps: int) -> None:
    rng = np.random.default_rng(1)
    window, inputs = normal(rng, (2, taps - 1, 3)), normal(rng, (2, 6, 3))
    everything = np.concatenate((window, inputs), axis=1)
    for k in range(7):
        rolled = deltatape.conv_window(window, inputs, k)
        assert rolled.tobytes() == everything[:, k : k + taps - 1].tobytes()


@pytest.mark.parametrize("tape", ["factored", "dense"])
def test_r3_rolling_everything_back_returns_the_snapshot(
    device: Device, cell: Shape, tape: str
) -> None:
    inputs = step_inputs(cell._replace(steps=4))
    snapshot = inputs.state.copy()
    _, advanced, kept = record(device, inputs, tape=tape)
    assert advanced.tobytes() != snapshot.tobytes()
    assert replay(device, snapshot, kept, 0).tobytes() == snapshot.tobytes()


def test_r4_a_replay_is_not_applied_again_by_later_calls(device: Device) -> None:
    inputs = step_inputs(Shape(steps=8))
    first = inputs.steps(0, 5)
    _, _, tape = record(device, replace(first, state=inputs.state), advance=False)
    rolled = replay(device, inputs.state, tape, 2)
    kept = rolled.copy()
    _, later, _ = record(device, replace(inputs.steps(5, 8), state=rolled), tape=None)
    assert rolled.tobytes() == kept.tobytes()
    assert replay(device, inputs.state, tape, 2).tobytes() == kept.tobytes()
    _, never_rolled, _ = record(device, replace(inputs.steps(5, 8), state=kept), tape=None)
    assert later.tobytes() == never_rolled.tobytes()


@pytest.mark.parametrize("k", [(1, 1, 4, 2), (1, 1, 1, 1)])
def test_r6_each_sequence_keeps_its_own_count(device: Device, cell: Shape, k: tuple) -> None:
    assert not failures(ssm_replay.compare(Edge("k", cell._replace(batch=4), k=k), device))


@pytest.mark.parametrize("k", range(4, 9))
def test_r7_k_is_not_clamped_to_the_convolutions_history(device: Device, k: int) -> None:
    taps = 4
    assert not failures(ssm_replay.compare(Edge("k", Shape(steps=8), k=(k, k)), device))
    inputs = np.arange(8.0).reshape(1, 8, 1)
    window = deltatape.conv_window(np.full((1, taps - 1, 1), -1.0), inputs, k)
    assert window[0, :, 0].tolist() == [k - 3, k - 2, k - 1]


@pytest.mark.parametrize("k", [0, 1, 3])
def test_r8_both_layouts_of_windows_name_the_same_rows(k: int) -> None:
    taps, steps = 4, 5
    rng = np.random.default_rng(1)
    window, inputs = normal(rng, (2, taps - 1, 3)), normal(rng, (2, steps, 3))
    sliding = np.concatenate((window, inputs), axis=1)
    a_token = [sliding[:, t + 1 : t + taps] for t in range(steps)]
    expected = a_token[k - 1] if k else window
    assert deltatape.conv_window(window, inputs, k).tobytes() == expected.tobytes()
    assert sliding[:, k : k + taps - 1].tobytes() == expected.tobytes()


@pytest.mark.parametrize("poison", [np.nan, np.inf])
@pytest.mark.parametrize("tape", ["factored", "columns", "dense"])
def test_r12_entries_beyond_k_are_not_read(
    device: Device, cell: Shape, tape: str, poison: float
) -> None:
    shape = cell._replace(steps=8)
    states, clean, _ = ssm_replay.build(Edge("clean", shape, tape=tape))
    expected = replay(device, states, clean, 3)
    _, dirty, _ = ssm_replay.build(Edge("dirty", shape, tape=tape))
    ssm_replay.fill(dirty, np.s_[:, 3:], decay=poison, others=poison)
    state = replay(device, states, dirty, 3)
    assert np.isfinite(state).all()
    assert state.tobytes() == expected.tobytes()


def test_r13_every_launch_gives_the_same_bytes(device: Device) -> None:
    shape = Shape(99, 4, 4, 2, 8, 32)
    inputs = step_inputs(shape)
    k = np.arange(99) % 4 + 1
    seen = set()
    for _ in range(5):
        y, state, tape = record(device, inputs)
        rolled = replay(device, inputs.state, tape, k)
        seen.add((y.tobytes(), state.tobytes(), rolled.tobytes()))
    assert len(seen) == 1


@pytest.mark.parametrize("seed", range(3))
def test_r15_chunked_prefill_and_decode_have_the_same_bytes(
    device: Device, cell: Shape, seed: int
) -> None:
    inputs = step_inputs(cell, seed)
    inner = np.random.default_rng(seed).choice([1, 2, 3, 4, 5], seed + 1, replace=False)
    assert not failures(any_split(device, inputs, (0, *sorted(inner.tolist()), 6)))
    assert not failures(any_split(device, inputs, range(7)))


@pytest.mark.parametrize("k", [-1, 6, [0, 6], [-1, 0], [1], [1, 2, 3], 2**40])
@pytest.mark.parametrize("tape", ["factored", "dense"])
def test_r16_a_k_that_is_not_on_the_tape_is_refused_before_any_write(
    device: Device, tape: str, k
) -> None:
    states, entries, _ = ssm_replay.build(Edge("k", tape=tape))
    out = poisoned(device, states.shape, states.dtype)
    before = out.tobytes()
    with pytest.raises(ValueError, match=r"^\[ssm_replay\] k: expected .*, got "):
        replay(device, states, entries, k, out=out)
    assert out.tobytes() == before


def test_r16_a_tape_of_other_sizes_is_refused(device: Device) -> None:
    states, tape, _ = ssm_replay.build(Edge("tape"))
    before = states.tobytes()
    short = FactoredTape(tape.decay, tape.scale, tape.u[:, :3], tape.v)
    with pytest.raises(ValueError, match=r"^\[ssm_replay\] [uv]: expected "):
        replay(device, states, short, 4, out=states)
    with pytest.raises(ValueError, match=r"^\[ssm_replay\] "):
        replay(device, states, None, 0, out=states)
    assert states.tobytes() == before


def test_r17_the_size_of_a_tape_is_known_before(device: Device) -> None:
    shape = Shape(1, 8, 4, 2, 16, 32)
    sizes = (shape.batch, shape.steps, shape.heads, shape.head_dim, shape.state_dim)
    _, _, factored = record(device, step_inputs(shape))
    _, _, dense = record(device, step_inputs(shape), tape="dense")
    assert (
        deltatape.tape_nbytes("factored", *sizes) == factored.decay.nbytes + factored.scale.nbytes
    )
    assert deltatape.tape_nbytes("dense", *sizes) == dense.nbytes
    assert deltatape.tape_nbytes("dense", 1, 64, 32, 128, 128) == 4 * 64 * 32 * 128 * (128 + 1)


def test_r21_memory_that_is_used_again_is_read_again(device: Device) -> None:
    shape = Shape(1, 3, 2, 1, 8, 32)
    for seed in range(20):
        inputs = step_inputs(shape, seed)
        in_device_memory = device.empty(inputs.state.shape)
        in_device_memory[...] = inputs.state
        _, state, tape = record(device, replace(inputs, state=in_device_memory))
        exact = reference.ssm_replay(inputs.state, tape, 2)
        rolled = replay(device, in_device_memory, tape, 2)
        np.testing.assert_allclose(rolled, exact, rtol=0, atol=1e-5)
        assert replay(device, in_device_memory, tape, 3).tobytes() == state.tobytes()
        del in_device_memory, state, tape, rolled


def test_r22_only_the_current_records_entries_are_reachable(device: Device) -> None:
    long = step_inputs(Shape(steps=8), 1)
    _, state, _ = record(device, long)
    short = replace(step_inputs(Shape(steps=2), 2), state=state)
    _, _, tape = record(device, short, advance=False)
    assert tape.steps == 2
    _, expected, _ = record(device, replace(short.steps(0, 1), state=state), tape=None)
    assert replay(device, state, tape, 1).tobytes() == expected.tobytes()
    with pytest.raises(ValueError, match=r"k: expected"):
        replay(device, state, tape, 3)
