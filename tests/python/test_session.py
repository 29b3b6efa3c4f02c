"""A session moves a layer's state and window together, one recording at a time."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import deltatape
from deltatape import InvalidArgument, Session, Stream, conv_window
from deltatape.verification.inputs import Shape, StepInputs, step_inputs

SHAPE = Shape(2, 5, 4, 2, 5, 7)
CHANNELS, TAPS = 6, 4


@pytest.fixture
def layer() -> StepInputs:
    return step_inputs(SHAPE)


def drawn(length: int) -> np.ndarray:
    rng = np.random.default_rng(5)
    return rng.standard_normal((SHAPE.batch, length, CHANNELS), np.float32)


@pytest.mark.parametrize("k", [0, 1, 3, 5, [0, 5], [4, 1]])
def test_keep_is_a_run_that_never_speculated(layer: StepInputs, k: Any) -> None:
    window, inputs = drawn(TAPS - 1), drawn(SHAPE.steps)
    session = Session(layer.state.copy(), window)
    y = session.record(*layer.args()[:-1], inputs=inputs)
    expected_y, _, tape = deltatape.ssm_step_record(*layer.args())
    assert y.tobytes() == expected_y.tobytes()
    assert session.state.tobytes() == layer.state.tobytes()
    session.keep(k)
    assert session.state.tobytes() == deltatape.ssm_replay(layer.state, tape, k).tobytes()
    assert session.window is not None
    assert session.window.tobytes() == conv_window(window, inputs, k).tobytes()
    assert session.pending is None


def test_rounds_follow_each_other(layer: StepInputs) -> None:
    session = Session(layer.state.copy())
    state = layer.state
    for start, stop, k in ((0, 3, 2), (2, 5, 3), (1, 2, 0), (0, 5, 5)):
        part = layer.steps(start, stop)
        session.record(*part.args()[:-1])
        session.keep(k)
        one_by_one = layer.steps(start, start + k)
        _, state, _ = deltatape.ssm_step_record(*replace(one_by_one, state=state).args())
        assert session.state.tobytes() == state.tobytes()


def test_keep_all_and_discard(layer: StepInputs) -> None:
    window, inputs = drawn(TAPS - 1), drawn(SHAPE.steps)
    session = Session(layer.state.copy(), window)
    session.record(*layer.args()[:-1], inputs=inputs)
    session.discard()
    assert session.state.tobytes() == layer.state.tobytes()
    assert np.array_equal(session.window, window)
    session.record(*layer.args()[:-1], inputs=inputs)
    session.keep_all()
    _, state, _ = deltatape.ssm_step_record(*layer.args())
    assert session.state.tobytes() == state.tobytes()
    assert np.array_equal(session.window, inputs[:, -3:])


def test_a_tape_of_the_engines_own(layer: StepInputs) -> None:
    _, _, tape = deltatape.ssm_step_record(*layer.args(), advance=False)
    session = Session(layer.state.copy(), drawn(TAPS - 1))
    session.hold(tape, drawn(SHAPE.steps))
    assert session.pending is tape
    session.keep(2)
    assert session.state.tobytes() == deltatape.ssm_replay(layer.state, tape, 2).tobytes()


def test_masked_steps_count_and_change_nothing(layer: StepInputs) -> None:
    mask = np.array([[1, 0, 1, 0, 0], [0, 0, 0, 0, 0]], bool)
    session = Session(layer.state.copy())
    session.record(*layer.args()[:-1], mask)
    session.keep_all()
    assert session.state[1].tobytes() == layer.state[1].tobytes()
    assert session.state[0].tobytes() != layer.state[0].tobytes()


def test_work_goes_to_a_stream(layer: StepInputs, stream: Stream) -> None:
    _, _, tape = deltatape.ssm_step_record(*layer.args())
    sessions = [Session(layer.state.copy()) for _ in range(4)]
    for session in sessions:
        session.record(*layer.args()[:-1], stream=stream)
        session.keep(3, stream=stream)
    stream.wait()
    expected = deltatape.ssm_replay(layer.state, tape, 3).tobytes()
    assert [session.state.tobytes() for session in sessions] == 4 * [expected]


def test_calls_out_of_turn_are_refused(layer: StepInputs) -> None:
    session = Session(layer.state.copy())
    _, _, tape = deltatape.ssm_step_record(*layer.args(), advance=False)
    before = session.state.tobytes()
    for call in (lambda: session.keep(1), session.keep_all, session.discard):
        with pytest.raises(InvalidArgument, match=r"\[session\] \w+: expected record or hold"):
            call()
    session.hold(tape)
    for call in (lambda: session.record(*layer.args()[:-1]), lambda: session.hold(tape)):
        with pytest.raises(InvalidArgument, match=r"\[session\] \w+: expected keep, keep_all or"):
            call()
    assert session.pending is tape
    assert session.state.tobytes() == before
    session.keep(0)
    with pytest.raises(InvalidArgument, match=r"\[session\] keep: expected record or hold"):
        session.keep(0)


@pytest.mark.parametrize("k", [-1, SHAPE.steps + 1, [0, 9], [1], 1.5])
def test_a_wrong_k_changes_nothing_and_may_be_corrected(layer: StepInputs, k: Any) -> None:
    window, inputs = drawn(TAPS - 1), drawn(SHAPE.steps)
    session = Session(layer.state.copy(), window)
    session.record(*layer.args()[:-1], inputs=inputs)
    with pytest.raises((ValueError, TypeError)):
        session.keep(k)
    assert session.state.tobytes() == layer.state.tobytes()
    assert np.array_equal(session.window, window)
    session.keep(2)
    assert np.array_equal(session.window, conv_window(window, inputs, 2))


def test_inputs_that_do_not_fit_the_window_are_refused(layer: StepInputs) -> None:
    arguments = layer.args()[:-1]
    with_window, without = Session(layer.state, drawn(TAPS - 1)), Session(layer.state)
    wrong = (drawn(SHAPE.steps - 1), drawn(SHAPE.steps)[..., 1:], drawn(SHAPE.steps)[:1], None)
    for inputs in wrong:
        with pytest.raises(InvalidArgument):
            with_window.record(*arguments, inputs=inputs)
        assert with_window.pending is None
    with pytest.raises(InvalidArgument, match="expected None without a window, got an array"):
        without.record(*arguments, inputs=drawn(SHAPE.steps))


def test_a_refused_recording_is_not_held(layer: StepInputs) -> None:
    session = Session(layer.state)
    x, *others = layer.args()[:-1]
    with pytest.raises(InvalidArgument):
        session.record(x[:1], *others)
    assert session.pending is None


def test_a_state_that_cannot_be_written_is_refused(layer: StepInputs) -> None:
    layer.state.flags.writeable = False
    with pytest.raises(InvalidArgument, match=r"\[session\] state: expected a writable array"):
        Session(layer.state)
