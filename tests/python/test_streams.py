"""Streams: work in order, valid after a wait."""

import numpy as np
import pytest

import deltatape
from deltatape import Device, InvalidArgument, Stream
from deltatape.verification.inputs import Shape, step_inputs

SHAPE = Shape(2, 3, 4, 2, 5, 7)
A = np.full((1, 40, 2, 16), 0.25, np.float32)


def test_calls_on_a_stream_happen_in_their_order(device: Device) -> None:
    layer = step_inputs(SHAPE)
    state = layer.state
    for _ in range(10):
        _, _, tape = deltatape.ssm_step_record(*layer.args()[:-1], state)
        state = deltatape.ssm_replay(state, tape, 2)
    moving = layer.state.copy()
    with device.stream() as stream:
        for _ in range(10):
            _, _, tape = deltatape.ssm_step_record(
                *layer.args()[:-1], moving, advance=False, stream=stream
            )
            deltatape.ssm_replay(moving, tape, 2, out=moving, stream=stream)
    assert moving.tobytes() == state.tobytes()


def test_a_stream_goes_on_after_a_refused_call(stream: Stream) -> None:
    first = deltatape.chunk_tri_solve_invert(A, stream=stream)
    with pytest.raises(InvalidArgument):
        deltatape.chunk_tri_solve_invert(A, cu_seqlens=[1], stream=stream)
    second = deltatape.chunk_tri_solve_invert(A, stream=stream)
    stream.wait()
    stream.wait()
    assert first.tobytes() == second.tobytes()


def test_a_block_waits_and_closes_whatever_happens_in_it(device: Device) -> None:
    results = []

    def leave_the_block() -> None:
        with stream:
            results.append(deltatape.chunk_tri_solve_invert(A, stream=stream))
            raise KeyError

    stream = device.stream()
    with pytest.raises(KeyError):
        leave_the_block()
    (result,) = results
    assert result.tobytes() == deltatape.chunk_tri_solve_invert(A).tobytes()
    with pytest.raises(InvalidArgument, match=r"\[stream\] .+, got a closed one"):
        stream.wait()


def test_a_closed_stream_is_refused_and_may_be_closed_again(device: Device) -> None:
    stream = device.stream()
    stream.close()
    stream.close()
    with pytest.raises(InvalidArgument, match=r"\[stream\] stream: expected .+, got a closed one"):
        deltatape.chunk_tri_solve_invert(A, stream=stream)


@pytest.mark.parametrize("stream", ["cpu", 0, True, object()])
def test_what_is_no_stream_is_refused(stream: object) -> None:
    sentence = r"\[stream\] stream: expected a deltatape.Stream or None, got \w+"
    with pytest.raises(InvalidArgument, match=sentence):
        deltatape.chunk_tri_solve_invert(A, stream=stream)


def test_a_device_in_a_streams_place_is_refused(device: Device) -> None:
    with pytest.raises(InvalidArgument, match="got Device"):
        deltatape.chunk_tri_solve_invert(A, stream=device)


def test_many_streams_may_be_open_at_once(device: Device) -> None:
    streams = [device.stream() for _ in range(20)]
    results = [deltatape.chunk_tri_solve_invert(A, stream=stream) for stream in streams]
    for stream in reversed(streams):
        stream.close()
    assert {result.tobytes() for result in results} == {results[0].tobytes()}
    assert results[0].tobytes() == deltatape.chunk_tri_solve_invert(A).tobytes()
