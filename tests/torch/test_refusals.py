"""What is refused, in the words that arrays are refused in."""

import subprocess
import sys
from collections.abc import Callable

import numpy as np
import pytest
import torch

import deltatape
import deltatape.torch
from deltatape import FactoredTape, InvalidArgument, UnsupportedDType

B, T, H, DH, DS = 2, 4, 2, 8, 32
Normal = Callable[..., torch.Tensor]


@pytest.fixture
def tape(normal: Normal) -> FactoredTape:
    return FactoredTape(normal(B, T, H), None, normal(B, T, H, DH), normal(B, T, 1, DS))


def test_what_is_no_tensor(normal: Normal, tape: FactoredTape) -> None:
    with pytest.raises(InvalidArgument, match=r"\[ssm_replay\] state: expected a torch.Tensor"):
        deltatape.torch.ssm_replay(np.zeros((B, H, DH, DS), np.float32), tape, 1)
    with pytest.raises(InvalidArgument, match=r"state_out: expected a torch.Tensor, got ndarray"):
        deltatape.torch.ssm_replay(normal(B, H, DH, DS), tape, 1, out=np.zeros(1))
    with pytest.raises(InvalidArgument, match=r"tape: expected a deltatape.FactoredTape or"):
        deltatape.torch.ssm_replay(normal(B, H, DH, DS), None, 1)


def test_k_off_the_tape_leaves_the_state_alone(normal: Normal, tape: FactoredTape) -> None:
    state = normal(B, H, DH, DS)
    before = state.clone()
    with pytest.raises(InvalidArgument, match=r"\[ssm_replay\] k: expected 0 <= k\[b\] <= 4"):
        deltatape.torch.ssm_replay(state, tape, 5, out=state)
    with pytest.raises(UnsupportedDType, match="k: expected integers, got float"):
        deltatape.torch.ssm_replay(state, tape, torch.tensor([1.0, 2.0]), out=state)
    assert torch.equal(state, before)


@pytest.mark.parametrize("dtype", ["float64", "int32", "complex64"])
def test_other_element_types(normal: Normal, tape: FactoredTape, dtype: str) -> None:
    with pytest.raises(UnsupportedDType, match=r"\[ssm_replay\] state: expected"):
        deltatape.torch.ssm_replay(normal(B, H, DH, DS).to(getattr(torch, dtype)), tape, 1)


def test_masks_of_floats(normal: Normal, tape: FactoredTape) -> None:
    with pytest.raises(UnsupportedDType, match="mask: expected bool or integers, got float32"):
        deltatape.torch.ssm_replay(normal(B, H, DH, DS), tape, 1, mask=normal(B, T))


def test_results_with_gaps(normal: Normal, tape: FactoredTape) -> None:
    out = normal(B, H, DS, DH).mT
    with pytest.raises(InvalidArgument, match="state_out: expected states that are each C-cont"):
        deltatape.torch.ssm_replay(normal(B, H, DH, DS), tape, 1, out=out)


def test_a_dtype_that_is_not_torchs(normal: Normal) -> None:
    with pytest.raises(UnsupportedDType, match=r"dtype: expected a torch\.dtype"):
        deltatape.torch.chunk_tri_solve_invert(normal(1, 16, 1, 16), dtype=np.float32)


def test_tensors_elsewhere(place: str, normal: Normal, tape: FactoredTape) -> None:
    state = normal(B, H, DH, DS)
    elsewhere = FactoredTape(tape.decay.to("meta"), None, tape.u, tape.v)
    with pytest.raises(InvalidArgument, match=f"decay: expected a tensor on {place}.*, got one on"):
        deltatape.torch.ssm_replay(state, elsewhere, 1)
    with pytest.raises(InvalidArgument, match="state: expected a tensor on the processor or an"):
        deltatape.torch.ssm_replay(state.to("meta"), tape, 1)


def test_a_gpus_tensors_are_not_taken_to_the_processor(
    place: str, normal: Normal, tape: FactoredTape
) -> None:
    with deltatape.Device("cpu") as device, device.stream() as stream:
        state = normal(B, H, DH, DS)
        if place == "cpu":
            deltatape.torch.ssm_replay(state, tape, 1, stream=stream)
        else:
            with pytest.raises(InvalidArgument, match=r"stream: expected one on cuda"):
                deltatape.torch.ssm_replay(state, tape, 1, stream=stream)


def test_the_base_package_does_not_import_torch() -> None:
    program = "import sys, deltatape; assert 'torch' not in sys.modules"
    subprocess.run([sys.executable, "-c", program], check=True)
