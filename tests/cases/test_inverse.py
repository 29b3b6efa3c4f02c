"""Triangular inverses as kernels got them wrong. Names begin with the case's id."""

import numpy as np
import pytest

from deltatape import Device, reference
from deltatape.verification.calls import invert
from deltatape.verification.case import poisoned
from deltatape.verification.chunk_tri_solve_invert import (
    Edge,
    alternating,
    chunks,
    compare,
    compare_chunks,
    repeated_keys,
)
from deltatape.verification.comparisons import failures
from deltatape.verification.inputs import DTYPES, dtype_of, matrices

LARGEST = float(np.finfo(np.float32).max)


def assert_within_bound(device: Device, a: np.ndarray) -> np.ndarray:
    """The inverse, which is within the elementwise bound of every chunk."""
    got = invert(device, a)
    exact = chunks(reference.chunk_tri_solve_invert(a), ())
    strict = np.tril(chunks(a.astype(np.float32), ()), -1)
    assert not failures(compare_chunks(strict, exact, chunks(got, ())))
    return got


@pytest.mark.parametrize("seed", range(4))
def test_s1_the_diagonal_is_not_read_and_large_values_are_genuine(
    device: Device, seed: int
) -> None:
    matrix = np.tril(np.random.default_rng(seed).standard_normal((64, 64)))
    a = matrix.astype(np.float32).reshape(1, 64, 1, 64)
    np.einsum("...ii->...i", a[0, :, 0])[...] = 1
    got = assert_within_bound(device, a)
    assert np.abs(got).max() > 1e3


def test_s2_extreme_decays_give_finite_inverses(device: Device) -> None:
    rng = np.random.default_rng(1)
    keys = rng.standard_normal((64, 32))
    keys /= np.linalg.norm(keys, axis=1, keepdims=True)
    gates = np.cumsum(-rng.uniform(0, 40, 64))
    with np.errstate(over="ignore"):
        faded = np.tril(keys @ keys.T * np.exp(gates[:, None] - gates), -1)
    got = assert_within_bound(device, faded.astype(np.float32).reshape(1, 64, 1, 64))
    assert np.isfinite(got).all()


def test_s2_what_overflows_is_infinite_and_stays_in_its_corner(device: Device) -> None:
    a = np.zeros((1, 64, 1, 64), np.float32)
    a[0, 20, 0, 19] = a[0, 21, 0, 20] = 1e30
    with np.errstate(over="ignore"):
        exact = reference.chunk_tri_solve_invert(a)[0, :, 0]
    got = invert(device, a)[0, :, 0]
    assert got[21, 19] == np.inf
    corner = np.zeros((64, 64), bool)
    corner[21:, 19] = True
    np.testing.assert_allclose(got[~corner], exact[~corner], rtol=1e-6)


@pytest.mark.parametrize(
    ("steps", "chunk"),
    [(63, 16), (500, 32), (1000, 64), (1, 16), (1, 64), (65, 64), (193, 64), (17, 16)],
)
def test_s3_rows_beyond_the_last_are_neither_read_nor_written(
    device: Device, steps: int, chunk: int
) -> None:
    around = np.full((2 + steps + chunk, 2, chunk), np.nan, np.float32)
    a = around[2 : 2 + steps][None]
    a[...] = matrices((1, steps, 2, chunk))
    written = np.full_like(around, 7)
    out = written[2 : 2 + steps][None]
    invert(device, a, out=out)
    exact = chunks(reference.chunk_tri_solve_invert(a), ())
    strict = np.nan_to_num(chunks(a, ()))
    assert not failures(compare_chunks(strict, exact, chunks(out, ())))
    assert (written[:2] == 7).all()
    assert (written[2 + steps :] == 7).all()


@pytest.mark.parametrize("bounds", [(0, 15, 100, 300, 1200, 2000), tuple(range(41))])
def test_s4_chunks_restart_at_each_sequence(device: Device, bounds: tuple[int, ...]) -> None:
    assert not failures(
        compare(Edge("sequences", (1, bounds[-1], 1, 64), cu_seqlens=bounds), device)
    )


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("chunk", [16, 32, 64])
def test_s5_repeated_keys_give_the_exact_two_diagonals(
    device: Device, chunk: int, dtype: str
) -> None:
    ones = np.tril(np.ones((chunk, chunk)), -1).reshape(1, chunk, 1, chunk)
    expected = np.eye(chunk) - np.eye(chunk, k=-1)
    got = invert(device, ones.astype(dtype_of(dtype)))[0, :, 0]
    assert got.tobytes() == (expected + 0.0).astype(np.float32).tobytes()


@pytest.mark.parametrize("size", [0.5, 0.9, 2.0])
def test_s5_repeated_keys_of_any_size_are_within_the_bound(device: Device, size: float) -> None:
    assert not failures(compare(Edge("keys", (1, 64, 1, 64), elements=repeated_keys(size)), device))


def test_s7_signs_that_make_it_grow_are_within_the_bound(device: Device) -> None:
    edge = Edge("signs", (1, 64, 1, 64), elements=alternating)
    assert not failures(compare(edge, device))


@pytest.mark.parametrize("alike", [0.0, 0.9])
def test_s8_unit_keys_are_solved_in_float32_alone(device: Device, alike: float) -> None:
    rng = np.random.default_rng(2)
    common, own = rng.standard_normal(64), rng.standard_normal((64, 64))
    keys = np.sqrt(alike) * common / np.linalg.norm(common)
    keys = keys + np.sqrt(1 - alike) * own / np.linalg.norm(own, axis=1, keepdims=True)
    keys /= np.linalg.norm(keys, axis=1, keepdims=True)
    a = np.tril(keys @ keys.T, -1).astype(np.float32).reshape(1, 64, 1, 64)
    got = assert_within_bound(device, a)
    exact = reference.chunk_tri_solve_invert(a)
    assert np.abs(got - exact).max() / np.abs(exact).max() < 1e-5


@pytest.mark.parametrize("result", DTYPES)
@pytest.mark.parametrize("chunk", [16, 32, 64])
def test_s9_every_element_is_written(device: Device, chunk: int, result: str) -> None:
    a = matrices((2, 2 * chunk + 3, 3, chunk))
    out = poisoned(device, a.shape, dtype_of(result))
    got = chunks(invert(device, a, out=out), ()).astype(np.float32)
    whole = got.reshape(2, 3, 3, chunk, chunk)[:, :, :2]
    assert np.isfinite(got).all()
    assert (np.diagonal(whole, axis1=-2, axis2=-1) == 1).all()
    above = whole[..., np.triu(np.ones((chunk, chunk), bool), 1)]
    assert above.tobytes() == np.zeros_like(above).tobytes()


def test_s10_a_nan_stays_in_its_chunk(device: Device) -> None:
    a = matrices((2, 96, 3, 32))
    clean = invert(device, a)
    a[1, 40, 2, 3] = np.nan
    got = invert(device, a)
    assert np.isnan(got[1, 40, 2, 3])
    hit = np.zeros(a.shape, bool)
    hit[1, 32:64, 2] = True
    assert got[~hit].tobytes() == clean[~hit].tobytes()


@pytest.mark.parametrize("dtype", DTYPES)
def test_s12_rows_of_zeros_are_rows_of_the_identity(device: Device, dtype: str) -> None:
    zeros = np.zeros((2, 70, 2, 32), dtype_of(dtype))
    rows = np.arange(70) % 32
    identity = np.broadcast_to(np.eye(32, dtype=np.float32)[rows][:, None], zeros.shape)
    assert invert(device, zeros).tobytes() == identity.tobytes()
    a = matrices((2, 70, 2, 32), 1, dtype)
    a[:, 33:36] = 0
    assert invert(device, a)[:, 33:36].tobytes() == identity[:, 33:36].tobytes()


def test_s14_every_run_gives_the_same_bytes(device: Device) -> None:
    a = matrices((3, 300, 5, 64))
    assert len({invert(device, a).tobytes() for _ in range(5)}) == 1
