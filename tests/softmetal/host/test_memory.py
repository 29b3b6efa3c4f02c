"""Which memory the GPU uses in place, which through its pages, and which through copies."""

from dataclasses import replace

import numpy as np
import pytest

import deltatape
from deltatape import Device
from deltatape.verification.inputs import Shape, step_inputs

LAYER = Shape(3, 5, 2, 1, 4, 8)
STATE_BYTES = 2 * 4 * 8 * 4


@pytest.fixture(scope="module")
def metal():
    with Device("metal") as device:
        yield device


@pytest.fixture(scope="module")
def inputs():
    return step_inputs(LAYER, 1)


@pytest.fixture(scope="module")
def expected(inputs):
    with Device("cpu") as cpu, cpu.stream() as stream:
        _, state, tape = deltatape.ssm_step_record(*inputs.args(), stream=stream)
        replayed = deltatape.ssm_replay(inputs.state, tape, [3, 0, 5], stream=stream)
    return state, tape, replayed


class Counted:
    """What a block wrapped and copied."""

    def __init__(self, device: Device) -> None:
        self._device = device

    def __enter__(self) -> "Counted":
        self._before = self._device.counters
        return self

    def __exit__(self, *_: object) -> None:
        after = self._device.counters
        self.wrapped = after["bytes_wrapped"] - self._before["bytes_wrapped"]
        self.copied = after["bytes_copied"] - self._before["bytes_copied"]


def owned(device: Device, array: np.ndarray) -> np.ndarray:
    copy = device.empty(array.shape, array.dtype)
    copy[...] = array
    return copy


def test_a_normal_rollback_copies_nothing(metal: Device, inputs, expected) -> None:
    args = [owned(metal, each) for each in inputs.args()]
    with Counted(metal) as counted, metal.stream() as stream:
        _, _, tape = deltatape.ssm_step_record(*args, advance=False, stream=stream)
        state = deltatape.ssm_replay(args[6], tape, [3, 0, 5], out=args[6], stream=stream)
    assert (counted.wrapped, counted.copied) == (0, 0)
    assert state.tobytes() == expected[2].tobytes()


def test_foreign_inputs_are_wrapped_and_foreign_outputs_copied_back(
    metal: Device, inputs, expected
) -> None:
    y, state = np.full_like(inputs.x, np.nan), np.full_like(inputs.state, np.nan)
    with Counted(metal) as counted, metal.stream() as stream:
        deltatape.ssm_step_record(*inputs.args(), out=(y, state), stream=stream)
        assert np.isnan(state).all()
    assert counted.copied == y.nbytes + state.nbytes
    assert counted.wrapped == sum(each.nbytes for each in inputs.args())
    assert state.tobytes() == expected[0].tobytes()


@pytest.mark.parametrize("offset", [4, 8, 12, 16, 1536])
def test_any_alignment_gives_the_same_bytes(metal: Device, inputs, expected, offset: int) -> None:
    def moved(array: np.ndarray) -> np.ndarray:
        memory = np.empty(array.nbytes + offset, np.uint8)
        view = memory[offset:].view(array.dtype).reshape(array.shape)
        view[...] = array
        return view

    args = [moved(each) for each in inputs.args()]
    with metal.stream() as stream:
        _, state, tape = deltatape.ssm_step_record(*args, stream=stream)
        replayed = deltatape.ssm_replay(args[6], tape, [3, 0, 5], stream=stream)
    assert state.tobytes() == expected[0].tobytes()
    assert replayed.tobytes() == expected[2].tobytes()


def test_a_foreign_pool_is_staged_by_the_states_in_use(metal: Device, inputs, expected) -> None:
    pool = np.full((1000, *inputs.state.shape[1:]), np.nan, np.float32)
    slots = [998, -1, 7]
    pool[998], pool[7] = inputs.state[0], inputs.state[2]
    untouched = pool.copy()
    with Counted(metal) as counted, metal.stream() as stream:
        deltatape.ssm_replay(pool, expected[1], [3, 0, 5], slots=slots, out=pool, stream=stream)
    assert counted.copied == 2 * STATE_BYTES
    assert pool[998].tobytes() == expected[2][0].tobytes()
    assert pool[7].tobytes() == expected[2][2].tobytes()
    untouched[[998, 7]] = pool[[998, 7]]
    assert pool.tobytes() == untouched.tobytes()


def test_the_padding_of_a_foreign_pool_is_left_alone(metal: Device, inputs, expected) -> None:
    padded = np.full((3, 100), np.nan, np.float32)
    pool = padded[:, : 2 * 4 * 8].reshape(3, 2, 4, 8)
    pool = np.lib.stride_tricks.as_strided(padded, (3, 2, 4, 8), (400, 128, 32, 4))
    pool[...] = inputs.state
    with metal.stream() as stream:
        deltatape.ssm_replay(pool, expected[1], [3, 0, 5], slots=[0, 1, 2], out=pool, stream=stream)
    assert np.ascontiguousarray(pool).tobytes() == expected[2].tobytes()
    assert np.isnan(padded[:, 64:]).all()


def test_a_later_call_sees_results_that_have_not_come_back_yet(
    metal: Device, inputs, expected
) -> None:
    state = np.full_like(inputs.state, np.nan)
    with metal.stream() as stream:
        deltatape.ssm_step_record(*inputs.args(), out=(None, state), stream=stream)
        again = replace(inputs, state=state)
        _, twice, _ = deltatape.ssm_step_record(*again.args(), stream=stream)
    assert state.tobytes() == expected[0].tobytes()
    with Device("cpu") as cpu, cpu.stream() as stream:
        _, wanted, _ = deltatape.ssm_step_record(*again.args(), stream=stream)
    assert twice.tobytes() == wanted.tobytes()


def test_memory_freed_while_in_use_is_not_handed_out_again(metal: Device, inputs) -> None:
    with metal.stream() as stream:
        state = owned(metal, inputs.state)
        address = state.ctypes.data
        _, _, tape = deltatape.ssm_step_record(*inputs.args(), stream=stream)
        deltatape.ssm_replay(state, tape, 5, out=state, stream=stream)
        stream._alive.clear()
        del state
        assert metal.empty(inputs.state.shape).ctypes.data != address
    assert metal.empty(inputs.state.shape).ctypes.data == address


def test_more_memory_than_there_is(metal: Device) -> None:
    with pytest.raises(deltatape.OutOfMemory, match="1099511627776"):
        metal.empty((1 << 40,), np.uint8)
