"""Sizes, offsets and sequences as kernels got them wrong. Names begin with the case's id."""

import mmap
import sys
from dataclasses import replace

import numpy as np
import pytest

import deltatape
from deltatape import DenseTape, Device, _native, reference
from deltatape.verification import chunk_tri_solve_invert, ssm_step_record
from deltatape.verification.calls import invert, record, replay
from deltatape.verification.comparisons import failures
from deltatape.verification.inputs import Shape, matrices, normal, step_inputs

# Not in Python's mmap module before 3.11.
NO_RESERVE = 0x4000 if sys.platform == "linux" else 0x40


def address_space(shape: tuple[int, ...], dtype: type) -> np.ndarray:
    """An array that takes memory only where it is touched."""
    nbytes = int(np.prod(shape, dtype=object)) * np.dtype(dtype).itemsize
    flags = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | NO_RESERVE
    return np.frombuffer(mmap.mmap(-1, nbytes, flags=flags), dtype).reshape(shape)


def test_v1_a_slot_beyond_2_to_the_31_elements_is_reached(device: Device) -> None:
    shape = Shape(2, 2, 32, 1, 128, 128)
    last = 2**31 // (32 * 128 * 128)
    inputs = step_inputs(shape, state="float16")
    start = inputs.state.copy()
    pool = address_space((last + 1, *shape.state[1:]), np.float16)
    pool[[0, last]] = start
    _, expected, tape = record(device, inputs)
    record(device, replace(inputs, state=pool), slots=[0, last])
    assert pool[[0, last]].tobytes() == expected.tobytes()
    pool[[0, last]] = start
    replay(device, pool, tape, 2, slots=[0, last])
    assert pool[[0, last]].tobytes() == expected.tobytes()


def test_v2_a_tape_of_more_than_2_to_the_32_elements_is_read_where_it_should() -> None:
    steps = 2**32 // (32 * 128 * 128) + 1
    rng = np.random.default_rng(1)
    state = normal(rng, (2, 32, 128, 128), "float16")
    da_log = address_space((2, steps, 32, 128), np.float32)
    dbx_log = address_space((2, steps, 32, 128, 128), np.float16)
    da_log[:, 0] = rng.uniform(0, 1, (2, 32, 128))
    dbx_log[:, 0] = normal(rng, (2, 32, 128, 128), "float16")
    # No other device can be sure of a buffer of this size.
    with Device("cpu") as cpu:
        rolled = replay(cpu, state, DenseTape(da_log, dbx_log), 1)
        first = DenseTape(da_log[:, :1].copy(), dbx_log[:, :1].copy())
        assert rolled.tobytes() == replay(cpu, state, first, 1).tobytes()


@pytest.mark.parametrize("dimension", ["batch", "steps", "heads", "chunk", "head_dim", "state_dim"])
@pytest.mark.parametrize("size", [2**40, 2**62, 2**63 - 1])
def test_v2_products_that_overflow_are_refused(device: Device, dimension: str, size: int) -> None:
    one = np.ones(64, np.float32)
    inverse = {"batch": 2**20, "steps": 2**20, "heads": 2**20, "chunk": 16, "a": one, "a_inv": one}
    sizes = ("batch", "steps", "heads", "head_dim", "state_dim")
    step: dict = dict.fromkeys(sizes, 2**20) | {"groups": 1, "tape": 2, "k": np.zeros(1, np.int32)}
    step |= dict.fromkeys(("state", "da_log", "dbx_log", "state_out"), one)
    kernels = {"chunk_tri_solve_invert": inverse, "ssm_replay": step}
    with device.stream() as stream:
        for name, fields in kernels.items():
            if dimension not in fields or (dimension, name) == ("chunk", "chunk_tri_solve_invert"):
                continue
            with pytest.raises(
                deltatape.InvalidArgument, match=rf"^\[{name}\] .*expected .*, got "
            ):
                _native.Kernel(name).prepared(stream._opened(), fields | {dimension: size})()
    assert (one == 1).all()


def test_v3_a_batch_has_the_bytes_of_its_halves(device: Device) -> None:
    a = matrices((6, 150, 5, 32))
    whole = invert(device, a)
    halves = [invert(device, a[:3]), invert(device, a[3:])]
    assert np.concatenate(halves).tobytes() == whole.tobytes()


def test_v4_there_may_be_more_heads_than_a_grid_dimension_holds(device: Device) -> None:
    edge = ssm_step_record.Edge("heads", Shape(257, 1, 256, 1, 1, 1))
    inputs, _ = ssm_step_record.build(edge)
    _, state, tape = record(device, inputs)
    exact = reference.ssm_step_record(*inputs.args())[1]
    np.testing.assert_allclose(state, exact, rtol=0, atol=1e-5)
    assert replay(device, inputs.state, tape, 1).tobytes() == state.tobytes()
    a = matrices((257, 1, 256, 16))
    assert (invert(device, a)[..., 0] == 1).all()


def test_v5_cu_seqlens_with_several_sequences_in_a_batch_are_refused(device: Device) -> None:
    a = matrices((2, 20, 3, 16))
    with pytest.raises(ValueError, match=r"^\[chunk_tri_solve_invert\] .*expected .*, got "):
        invert(device, a, cu_seqlens=[0, 20])


@pytest.mark.parametrize("dtype", [np.int32, np.int64, np.uint8])
def test_v6_sequences_of_no_rows_are_allowed_in_any_integers(device: Device, dtype: type) -> None:
    bounds = np.array([0, 0, 5, 5, 12], dtype)
    a = matrices((1, 12, 3, 16), cu_seqlens=bounds)
    exact = reference.chunk_tri_solve_invert(a, cu_seqlens=bounds)
    np.testing.assert_allclose(invert(device, a, cu_seqlens=bounds), exact, rtol=0, atol=1e-5)


@pytest.mark.parametrize(
    "bounds", [[1, 12], [0, 5, 4, 12], [0, 5, 11], [0, 13], [], [0], [-1, 12], [0, 2**32 + 12]]
)
def test_v6_malformed_sequences_are_refused(device: Device, bounds: list[int]) -> None:
    a = matrices((1, 12, 3, 16))
    out = np.full_like(a, np.nan)
    before = out.tobytes()
    with pytest.raises(ValueError, match=r"^\[chunk_tri_solve_invert\] cu_seqlens\w*: expected "):
        invert(device, a, cu_seqlens=np.array(bounds, np.int64), out=out)
    assert out.tobytes() == before


def test_v6_float_sequences_are_refused(device: Device) -> None:
    with pytest.raises(TypeError, match=r"^\[chunk_tri_solve_invert\] cu_seqlens: expected "):
        invert(device, matrices((1, 12, 3, 16)), cu_seqlens=[0.0, 12.0])


def test_v2_the_size_of_an_absurd_tape_is_exact() -> None:
    nbytes = deltatape.tape_nbytes("dense", 2**20, 2**20, 2**10, 2**10, 2**10)
    assert nbytes == 4 * 2**60 * (2**10 + 1)


def test_v3_sequences_reach_beyond_the_first_chunks(device: Device) -> None:
    edge = chunk_tri_solve_invert.Edge("long", (1, 700, 1, 16), cu_seqlens=(0, 1, 320, 700))
    assert not failures(chunk_tri_solve_invert.compare(edge, device))
