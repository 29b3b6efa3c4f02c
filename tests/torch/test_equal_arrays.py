"""The functions on tensors give the bytes that those on arrays give."""

from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np
import pytest
import torch

import deltatape
import deltatape.torch
from deltatape import DenseTape, Device, FactoredTape

B, T, H, G, DH, DS = 2, 5, 4, 2, 24, 64
Normal = Callable[..., torch.Tensor]


def array(tensor: Any) -> Any:
    """Return a tensor's bits as numpy has them."""
    if not isinstance(tensor, torch.Tensor):
        return tensor
    if tensor.dtype == torch.bfloat16:
        return tensor.cpu().view(torch.int16).numpy().view(ml_dtypes.bfloat16)
    return tensor.cpu().numpy()


def same(tensor: torch.Tensor, expected: np.ndarray) -> bool:
    got = array(tensor)
    return got.dtype == expected.dtype and got.tobytes() == expected.tobytes()


def inputs(normal: Normal, dtype: str) -> list[torch.Tensor]:
    """x, a_log, b, c, d, dt, state."""
    x, b, c = (normal(B, T, *sizes, dtype=dtype) for sizes in ((H, DH), (G, DS), (G, DS)))
    return [x, normal(H), b, c, normal(H, dtype=dtype), normal(B, T, H).abs(), normal(B, H, DH, DS)]


def on_arrays(place: str, function: Any, *arguments: Any, **options: Any) -> Any:
    with Device(place) as device, device.stream() as stream:
        return function(*map(array, arguments), stream=stream, **options)


@pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16"])
@pytest.mark.parametrize("tape", ["factored", "dense", None])
def test_record(place: str, normal: Normal, dtype: str, tape: Any) -> None:
    given = inputs(normal, dtype)
    mask = torch.tensor([[1, 0, 1, 1, 1], [1, 1, 1, 1, 0]]).to(place)
    y, state, kept = deltatape.torch.ssm_step_record(*given, mask, tape=tape)
    expected = on_arrays(place, deltatape.ssm_step_record, *given, mask, tape=tape)
    assert y.device.type == state.device.type == place
    assert same(y, expected[0])
    assert same(state, expected[1])
    if tape == "factored":
        assert kept.u is given[0]
        assert kept.v is given[2]
        assert same(kept.decay, expected[2].decay)
        assert same(kept.scale, expected[2].scale)
        assert (kept.steps, kept.nbytes) == (T, expected[2].nbytes)
    elif tape == "dense":
        assert same(kept.da_log, expected[2].da_log)
        assert same(kept.dbx_log, expected[2].dbx_log)


@pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16"])
def test_replay(place: str, normal: Normal, dtype: str) -> None:
    state, (u, v) = normal(B, H, DH, DS, dtype=dtype), (normal(B, T, H, DH), normal(B, T, G, DS))
    decay, columns = normal(B, T, H).abs(), normal(B, T, H, DS).abs()
    tapes: list[Any] = [FactoredTape(each, None, u, v) for each in (decay, columns)]
    tapes.append(DenseTape(columns, normal(B, T, H, DH, DS, dtype=dtype)))
    for tape in tapes:
        arrays = type(tape)(*(array(each) for each in vars(tape).values()))
        for k in (0, T, [1, 3], torch.tensor([2, 0])):
            rolled = deltatape.torch.ssm_replay(state, tape, k)
            assert rolled.device == state.device
            assert same(rolled, on_arrays(place, deltatape.ssm_replay, state, arrays, k))


@pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16"])
def test_inverse(place: str, normal: Normal, dtype: str) -> None:
    a = normal(1, 50, 3, 16, dtype=dtype) * 0.1
    for result in (None, torch.float16, torch.bfloat16):
        inverse = deltatape.torch.chunk_tri_solve_invert(a, cu_seqlens=[0, 7, 50], dtype=result)
        assert inverse.dtype == (result or torch.float32)
        name = array(torch.empty(0, dtype=inverse.dtype)).dtype
        options = {"cu_seqlens": [0, 7, 50], "dtype": name}
        assert same(inverse, on_arrays(place, deltatape.chunk_tri_solve_invert, a, **options))


def test_a_rollback_is_the_run_that_never_speculated(normal: Normal) -> None:
    x, a_log, b, c, d, dt, state = inputs(normal, "bfloat16")
    _, none, tape = deltatape.torch.ssm_step_record(x, a_log, b, c, d, dt, state, advance=False)
    assert none is None
    first = [each[:, :3] for each in (x, b, c, dt)]
    _, plain, _ = deltatape.torch.ssm_step_record(
        first[0], a_log, first[1], first[2], d, first[3], state
    )
    assert torch.equal(deltatape.torch.ssm_replay(state, tape, 3), plain)
