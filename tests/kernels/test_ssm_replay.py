"""ssm_replay against its reference, and what becomes of its arguments."""

from dataclasses import replace

import numpy as np
import pytest

from deltatape import DenseTape, Device, FactoredTape
from deltatape.verification import pinned, ssm_replay
from deltatape.verification.calls import record, replay
from deltatape.verification.case import Case
from deltatape.verification.comparisons import failures
from deltatape.verification.inputs import DTYPES, Shape, normal, replay_inputs, step_inputs
from deltatape.verification.ssm_replay import Edge


@pytest.mark.parametrize("case", [*ssm_replay.cases()], ids=lambda case: case.name)
def test_equals_the_reference(device: Device, case: Case) -> None:
    assert not failures(case.compare(device))


@pytest.mark.parametrize("tape", ["factored", "columns", "dense"])
@pytest.mark.parametrize("dtype", DTYPES)
def test_equals_the_reference_at_production_size(
    device: Device, production: Shape, dtype: str, tape: str
) -> None:
    k = (3, 4)[: production.batch]
    edge = Edge("production", production, dtype, dtype, dtype, tape, k)
    assert not failures(ssm_replay.compare(edge, device))


@pytest.mark.parametrize("k", [0, 1, 17, 32])
def test_rolls_a_trained_layer_back(device: Device, trained, k: int) -> None:
    inputs = trained("float32")
    _, _, tape = record(device, inputs, advance=False)
    _, expected, _ = record(device, replace(inputs.steps(0, k), state=inputs.state), tape=None)
    assert replay(device, inputs.state, tape, k).tobytes() == expected.tobytes()


@pytest.mark.parametrize("tape", ["factored", "columns", "dense"])
@pytest.mark.parametrize("k", [0, 3])
def test_state_in_place_has_the_bytes_of_a_new_one(device: Device, tape: str, k: int) -> None:
    states, entries, _ = ssm_replay.build(Edge("in place", tape=tape))
    new = replay(device, states, entries, k)
    same = replay(device, states, entries, k, out=states)
    assert same is states
    assert same.tobytes() == new.tobytes()


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("tape", ["factored", "dense"])
def test_keeping_nothing_copies_bits_beside_rows_that_keep_some(
    device: Device, special_state, dtype: str, tape: str
) -> None:
    _, entries, _ = ssm_replay.build(Edge("k", Shape(3), tape=tape))
    states = special_state(Shape(3).state, dtype)
    state = replay(device, states, entries, [0, 4, 0])
    assert state[[0, 2]].tobytes() == states[[0, 2]].tobytes()
    assert state[1].tobytes() != states[1].tobytes()


def test_concatenated_tapes_replay_as_one(device: Device) -> None:
    inputs = step_inputs(Shape(steps=7))
    _, whole, _ = record(device, inputs)
    for kind, tape_class in (("factored", FactoredTape), ("dense", DenseTape)):
        parts, state = [], inputs.state
        for start, stop in ((0, 2), (2, 3), (3, 7)):
            part = replace(inputs.steps(start, stop), state=state)
            _, state, tape = record(device, part, tape=kind)
            parts.append(tape)
        joined = tape_class.concatenate(parts)
        assert joined.steps == 7
        assert replay(device, inputs.state, joined, 7).tobytes() == whole.tobytes()


def test_a_gated_delta_layers_tape_rolls_back(device: Device) -> None:
    """u is the corrected value, v the key, decay exp(g), and there is no scale."""
    shape = Shape(batch=2, steps=6, heads=3, groups=3, head_dim=12, state_dim=16)
    rng = np.random.default_rng(3)
    keys = normal(rng, (2, 6, 3, 16))
    keys /= np.linalg.norm(keys, axis=-1, keepdims=True)
    values = normal(rng, (2, 6, 3, 12))
    decay = rng.uniform(0.5, 1, (2, 6, 3)).astype(np.float32)
    state = normal(rng, shape.state)
    states, corrected = [state.astype(np.float64)], np.empty(values.shape, np.float32)
    for t in range(6):
        faded = states[-1] * decay[:, t, :, None, None]
        corrected[:, t] = values[:, t] - np.einsum("bhpn,bhn->bhp", faded, keys[:, t])
        states.append(faded + corrected[:, t, ..., None] * keys[:, t, :, None, :])
    tape = FactoredTape(decay, None, corrected, keys)
    for k, expected in enumerate(states):
        np.testing.assert_allclose(replay(device, state, tape, k), expected, rtol=0, atol=5e-6)


def test_infinities_and_zeros_go_through_the_written_order(device: Device, special_state) -> None:
    inputs = replay_inputs(Shape())
    state = special_state(inputs.state.shape)
    inputs.decay[:, 2] = 0
    inputs.scale[:, 3] = 0
    tape = FactoredTape(inputs.decay, inputs.scale, inputs.u, inputs.v)
    for k in range(1, 6):
        folded = pinned.fold(
            state, inputs.decay[:, :k], inputs.scale[:, :k], inputs.u[:, :k], inputs.v[:, :k]
        )
        assert replay(device, state, tape, k).tobytes() == folded.tobytes()


def test_float16_states_round_to_nearest_up_to_infinity(device: Device) -> None:
    largest = [65504, 65519, 65520, 65536, 70000, 131071, 131072, 1e30]
    values = np.array([*largest, *(-value for value in largest)], np.float32)
    one = np.ones((1, 1, 1), np.float32)
    tape = FactoredTape(one, one, one[..., None], values.reshape(1, 1, 1, -1))
    state = replay(device, np.zeros((1, 1, 1, values.size), np.float16), tape, 1)
    with np.errstate(over="ignore"):
        expected = values.astype(np.float16)
    assert state.tobytes() == expected.tobytes()


def test_inputs_are_only_read(device: Device) -> None:
    states, tape, _ = ssm_replay.build(Edge("inputs"))
    arrays = (states, tape.decay, tape.scale, tape.u, tape.v)
    before = [each.tobytes() for each in arrays]
    replay(device, states, tape, [2, 5])
    assert [each.tobytes() for each in arrays] == before
