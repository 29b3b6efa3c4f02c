"""Work too long for a command buffer is spread over several, and its bytes do not show it."""

import threading
from dataclasses import replace

import numpy as np
import pytest

import deltatape
from deltatape import Device
from deltatape.verification.inputs import Shape, StepInputs, dtype_of, step_inputs

# The host reckons with 2 us a step, and stays below 0.1 s: a second command buffer from 50001 on.
LONG = Shape(3, 50_200, 1, 1, 2, 3)


@pytest.fixture(scope="module")
def cpu():
    with Device("cpu") as device:
        yield device


@pytest.fixture(scope="module")
def metal():
    with Device("metal") as device:
        yield device


def long_inputs(state: str) -> StepInputs:
    inputs = step_inputs(LONG, 1)
    return replace(
        inputs, dt=inputs.dt * np.float32(0.01), state=inputs.state.astype(dtype_of(state))
    )


def record(device: Device, inputs: StepInputs, **options):
    with device.stream() as stream:
        return deltatape.ssm_step_record(*inputs.args(), stream=stream, **options)


@pytest.mark.parametrize("state", ["float32", "float16", "bfloat16"])
def test_a_long_record_carries_its_state_in_f32(cpu: Device, metal: Device, state: str) -> None:
    inputs = long_inputs(state)
    before = metal.counters
    _, on_metal, tape = record(metal, inputs)
    after = metal.counters
    _, on_cpu, cpu_tape = record(cpu, inputs)
    assert on_metal.tobytes() == on_cpu.tobytes()
    assert tape.decay.tobytes() == cpu_tape.decay.tobytes()
    assert after["command_buffers"] - before["command_buffers"] == 2
    assert after["dispatches"] - before["dispatches"] == 2


def test_y_of_a_long_record_does_not_show_the_split(metal: Device) -> None:
    inputs = long_inputs("float32")
    y, _, _ = record(metal, inputs, advance=False)
    short = replace(
        inputs, x=inputs.x[:, :100], b=inputs.b[:, :100], c=inputs.c[:, :100], dt=inputs.dt[:, :100]
    )
    assert record(metal, short)[0].tobytes() == y[:, :100].tobytes()
    alone = replace(
        inputs, x=inputs.x[2:], b=inputs.b[2:], c=inputs.c[2:], dt=inputs.dt[2:],
        state=inputs.state[2:],
    )  # fmt: skip
    assert record(metal, alone)[0].tobytes() == y[2:].tobytes()


@pytest.mark.parametrize("state", ["float32", "float16"])
@pytest.mark.parametrize("k", [(50_200, 0, 50_001), (7, 50_000, 50_200)])
def test_a_long_replay_keeps_each_sequence_at_its_k(
    cpu: Device, metal: Device, state: str, k: tuple[int, ...]
) -> None:
    inputs = long_inputs(state)
    bits = inputs.state.reshape(-1).view("u4" if state == "float32" else "u2")
    bits[8] = 0x7F800001 if state == "float32" else 0x7C01  # a signalling NaN survives k = 0
    _, _, tape = record(cpu, inputs)
    results = [
        deltatape.ssm_replay(inputs.state, tape, k, stream=stream)
        for device in (cpu, metal)
        for stream in [device.stream()]
        if stream.wait() is None
    ]
    assert results[0].tobytes() == results[1].tobytes()


def test_more_heads_than_a_grid_is_deep(cpu: Device, metal: Device) -> None:
    for shape in (Shape(33_000, 1, 2, 1, 1, 1), Shape(1, 1, 66_000, 1, 1, 1)):
        inputs = step_inputs(shape, 2)
        ours, theirs = record(metal, inputs), record(cpu, inputs)
        assert ours[1].tobytes() == theirs[1].tobytes()
        np.testing.assert_allclose(ours[0], theirs[0], rtol=1e-5, atol=1e-6)


def test_a_model_s_rollbacks_are_one_command_buffer(metal: Device) -> None:
    inputs = step_inputs(Shape(1, 5, 2, 1, 4, 8), 3)
    _, _, tape = record(metal, inputs)
    layers = [metal.empty(inputs.state.shape) for _ in range(24)]
    for layer in layers:
        layer[:] = inputs.state
    before = metal.counters
    with metal.stream() as stream:
        for layer in layers:
            deltatape.ssm_replay(layer, tape, 3, out=layer, stream=stream)
    after = metal.counters
    assert after["dispatches"] - before["dispatches"] == 24
    assert after["command_buffers"] - before["command_buffers"] == 1
    assert after["bytes_copied"] == before["bytes_copied"]
    assert len({layer.tobytes() for layer in layers}) == 1


def test_eight_threads_with_a_stream_each(metal: Device) -> None:
    inputs = step_inputs(Shape(2, 5, 3, 1, 5, 20), 4)
    wanted = record(metal, inputs)[1].tobytes()
    found: list[bool] = []

    def work() -> None:
        with metal.stream() as stream:
            for _ in range(25):
                _, state, _ = deltatape.ssm_step_record(*inputs.args(), stream=stream)
                stream.wait()
                found.append(state.tobytes() == wanted)

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 200
    assert all(found)


def test_many_streams_with_work_to_wait_for(metal: Device) -> None:
    inputs = step_inputs(Shape(1, 2, 1, 1, 2, 4), 5)
    _, _, tape = record(metal, inputs)
    streams = [metal.stream() for _ in range(100)]
    states = [deltatape.ssm_replay(inputs.state, tape, 2, stream=stream) for stream in streams]
    for stream in streams:
        stream.close()
    assert len({state.tobytes() for state in states}) == 1
