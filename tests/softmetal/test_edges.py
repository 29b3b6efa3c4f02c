"""Paths of the host and the shaders that a normal call does not take."""

from collections.abc import Iterator

import numpy as np
import pytest

import deltatape
from deltatape import Device, NotOffered
from deltatape.verification.inputs import Shape, matrices, step_inputs


@pytest.fixture
def metal() -> Iterator[Device]:
    with Device("metal") as device:
        yield device


@pytest.fixture
def cpu() -> Iterator[Device]:
    with Device("cpu") as device:
        yield device


def replay(device: Device, *args, **options) -> np.ndarray:
    with device.stream() as stream:
        return deltatape.ssm_replay(*args, stream=stream, **options)


@pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16"])
def test_an_inverse_may_lie_anywhere(metal: Device, cpu: Device, dtype: str) -> None:
    a = matrices((1, 40, 3, 32), 1, dtype)
    out = metal.empty((a.size + 1,), a.dtype)[1:].reshape(a.shape)
    out.fill(np.nan)
    results = []
    for device, result in ((metal, out), (cpu, np.empty_like(a))):
        with device.stream() as stream:
            deltatape.chunk_tri_solve_invert(a, out=result, stream=stream)
        results.append(result.tobytes())
    assert results[0] == results[1]


def test_a_sequence_that_ends_early_waits_for_the_long_ones(metal: Device, cpu: Device) -> None:
    # Three command buffers; the first sequence ends in the second of them, and its state becomes
    # half once more.
    inputs = step_inputs(Shape(2, 100_200, 1, 1, 2, 3), 1, state="float16")
    inputs.dt *= np.float32(0.01)
    with cpu.stream() as stream:
        *_, tape = deltatape.ssm_step_record(*inputs.args(), advance=False, stream=stream)
    k = [60_000, 100_200]
    expected = replay(cpu, inputs.state, tape, k)
    assert replay(metal, inputs.state, tape, k).tobytes() == expected.tobytes()


def test_states_whose_pages_cannot_be_wrapped_are_staged(
    metal: Device, cpu: Device, monkeypatch: pytest.MonkeyPatch
) -> None:
    inputs = step_inputs(Shape(2, 5, 2, 1, 4, 8), 1)
    with cpu.stream() as stream:
        *_, tape = deltatape.ssm_step_record(*inputs.args(), advance=False, stream=stream)
    pool = np.full((9, *inputs.state.shape[1:]), np.nan, np.float32)
    pool[[7, 2]] = inputs.state
    expected = replay(cpu, pool.copy(), tape, 3, slots=[7, 2])
    monkeypatch.setenv("SOFTMETAL_FAULT", "wrap")
    before = metal.counters
    assert replay(metal, pool, tape, 3, slots=[7, 2]).tobytes() == expected.tobytes()
    after = metal.counters
    assert after["bytes_wrapped"] == before["bytes_wrapped"]
    # Both ways, and the two rows only of the pool.
    assert after["bytes_copied"] - before["bytes_copied"] == 2 * inputs.state.nbytes + sum(
        each.nbytes for each in (tape.decay, tape.scale, tape.u, tape.v)
    )


def test_a_wider_state_is_not_offered(metal: Device) -> None:
    inputs = step_inputs(Shape(1, 1, 1, 1, 1, 1025))
    with (
        metal.stream() as stream,
        pytest.raises(NotOffered, match="state_dim: expected at most 1024 on metal, got 1025"),
    ):
        deltatape.ssm_step_record(*inputs.args(), stream=stream)
