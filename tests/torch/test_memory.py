"""Which memory is used: the tensors' own, in place where that is asked for, and on their stream."""

from collections.abc import Callable

import torch

import deltatape
import deltatape.torch
from deltatape import FactoredTape

B, T, H, DH, DS = 2, 4, 2, 8, 32
Normal = Callable[..., torch.Tensor]


def tape(normal: Normal, batch: int = B) -> FactoredTape:
    sizes = ((batch, T, H), (batch, T, H), (batch, T, H, DH), (batch, T, 1, DS))
    return FactoredTape(*(normal(*each) for each in sizes))


def test_out_is_filled_and_returned(normal: Normal) -> None:
    state, kept = normal(B, H, DH, DS), tape(normal)
    expected, out = deltatape.torch.ssm_replay(state, kept, 3), torch.full_like(state, torch.nan)
    assert deltatape.torch.ssm_replay(state, kept, 3, out=out) is out
    assert torch.equal(out, expected)
    assert deltatape.torch.ssm_replay(state, kept, 3, out=state) is state
    assert torch.equal(state, expected)


def test_record_fills_all_that_it_is_given(normal: Normal) -> None:
    x, b, c, dt = normal(B, T, H, DH), normal(B, T, 1, DS), normal(B, T, 1, DS), normal(B, T, H)
    given = (x, normal(H), b, c, None, dt.abs(), normal(B, H, DH, DS))
    y, state, kept = deltatape.torch.ssm_step_record(*given)
    outs = (torch.full_like(x, torch.nan), torch.full_like(state, torch.nan))
    arrays = (torch.full_like(dt, torch.nan), torch.full_like(dt, torch.nan))
    again = deltatape.torch.ssm_step_record(*given, out=(*outs, arrays))
    assert again[0] is outs[0]
    assert again[1] is outs[1]
    assert (again[2].decay, again[2].scale) == arrays
    for got, expected in zip((*outs, *arrays), (y, state, kept.decay, kept.scale), strict=True):
        assert torch.equal(got, expected)


def test_strided_tensors_are_copied_once_and_the_tape_refers_to_the_callers(
    normal: Normal,
) -> None:
    x, b, c = normal(B, H, T, DH).transpose(1, 2), normal(B, T, 1, DS), normal(B, T, 1, DS)
    given = (normal(H), b, c, None, normal(B, T, H).abs(), normal(B, H, DS, DH).mT)
    y, state, kept = deltatape.torch.ssm_step_record(x, *given)
    packed = deltatape.torch.ssm_step_record(x.contiguous(), *given[:-1], given[-1].contiguous())
    assert torch.equal(y, packed[0])
    assert torch.equal(state, packed[1])
    assert kept.u is x


def test_a_pool_is_updated_by_slots(normal: Normal) -> None:
    rows, kept = normal(5, 2, H, DH, DS), tape(normal)
    pool = rows[:, 0]  # states that lie apart
    before = pool.clone()
    assert deltatape.torch.ssm_replay(pool, kept, 3, slots=[3, -1]) is pool
    expected = deltatape.torch.ssm_replay(before[[3, 0]], kept, 3)
    assert torch.equal(pool[3], expected[0])
    untouched = [0, 1, 2, 4]
    assert torch.equal(pool[untouched], before[untouched])


def test_flags_and_slots_may_be_tensors(normal: Normal) -> None:
    x, b, c = normal(B, T, H, DH), normal(B, T, 1, DS), normal(B, T, 1, DS)
    given = (x, normal(H), b, c, None, normal(B, T, H).abs(), normal(3, H, DH, DS))
    before = given[-1].clone()
    slots, initial = torch.tensor([2, 0]), torch.tensor([True, False])
    _, pool, _ = deltatape.torch.ssm_step_record(*given, slots=slots, has_initial=initial)
    start = torch.stack([before[2], torch.zeros_like(before[0])])
    _, expected, _ = deltatape.torch.ssm_step_record(*given[:-1], start)
    assert pool is given[-1]
    assert torch.equal(pool[[2, 0]], expected)
    assert torch.equal(pool[1], before[1])


def test_empty_tensors(normal: Normal) -> None:
    state = normal(B, H, DH, DS)
    nothing = FactoredTape(normal(B, 0, H), None, normal(B, 0, H, DH), normal(B, 0, 1, DS))
    assert torch.equal(deltatape.torch.ssm_replay(state, nothing, 0), state)
    assert deltatape.torch.chunk_tri_solve_invert(normal(1, 0, 2, 16)).shape == (1, 0, 2, 16)


def test_many_layers_on_one_stream(place: str, normal: Normal) -> None:
    states = [normal(1, H, DH, DS) for _ in range(30)]
    tapes = [tape(normal, 1) for _ in states]
    alone = [deltatape.torch.ssm_replay(*pair, 3) for pair in zip(states, tapes, strict=True)]
    stream = deltatape.torch.stream() if place == "cuda" else deltatape.Device("cpu").stream()
    for state, kept in zip(states, tapes, strict=True):
        deltatape.torch.ssm_replay(state, kept, 3, out=state, stream=stream)
    stream.wait()
    assert all(torch.equal(*pair) for pair in zip(states, alone, strict=True))
