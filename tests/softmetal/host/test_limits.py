"""The widest states, and the most work that waits."""

import numpy as np
import pytest

import deltatape
from deltatape import Device
from deltatape.verification.inputs import Shape, step_inputs


@pytest.fixture(scope="module")
def metal():
    with Device("metal") as device:
        yield device


def test_the_widest_states_are_offered(metal: Device) -> None:
    inputs = step_inputs(Shape(1, 3, 1, 1, 2, 1024), 1)
    states = []
    for device in (metal, Device("cpu")):
        with device.stream() as stream:
            states.append(deltatape.ssm_step_record(*inputs.args(), stream=stream)[1])
    assert states[0].tobytes() == states[1].tobytes()


def test_more_streams_with_work_than_the_queue_holds(metal: Device) -> None:
    inputs = step_inputs(Shape(1, 1, 1, 1, 1, 4), 2)
    tape = deltatape.FactoredTape(np.ones((1, 1, 1), np.float32), None, inputs.x, inputs.b)
    streams = [metal.stream() for _ in range(1025)]
    for stream in streams[:-1]:
        deltatape.ssm_replay(inputs.state, tape, 1, stream=stream)
    with pytest.raises(deltatape.DeviceError, match="1024 streams with work to wait for"):
        deltatape.ssm_replay(inputs.state, tape, 1, stream=streams[-1])
    streams[0].wait()
    deltatape.ssm_replay(inputs.state, tape, 1, stream=streams[-1])
    for stream in streams:
        stream.close()
