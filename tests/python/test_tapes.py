"""Tapes as values: their sizes, and one made of several."""

from dataclasses import FrozenInstanceError, replace
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import deltatape
from deltatape import DenseTape, Device, FactoredTape, InvalidArgument, UnsupportedDType
from deltatape.verification.calls import record, replay
from deltatape.verification.inputs import Shape, step_inputs

SHAPE = Shape(2, 6, 4, 2, 5, 7)
SIZES = (2, 6, 4, 5, 7)


@pytest.mark.parametrize("tape", ["factored", "dense"])
def test_a_tapes_size_is_known_before_and_after(device: Device, tape: Any) -> None:
    layer = step_inputs(SHAPE)
    _, _, recorded = record(device, layer, tape=tape)
    assert recorded.steps == SHAPE.steps
    allocated = deltatape.tape_nbytes(tape, *SIZES)
    callers = layer.x.nbytes + layer.b.nbytes if tape == "factored" else 0
    assert recorded.nbytes == allocated + callers


def test_a_dense_tape_of_16_bits_is_smaller() -> None:
    whole, half = (
        deltatape.tape_nbytes("dense", *SIZES, dtype) for dtype in (np.float32, ml_dtypes.bfloat16)
    )
    assert whole - half == 2 * np.prod(SIZES)


def test_sizes_may_be_numpys_and_do_not_wrap() -> None:
    sizes = np.array([4096, 4096, 128, 256, 256], np.int32)
    assert deltatape.tape_nbytes("dense", *sizes) == 4 * 2**31 * (2**8 + 2**16)


def test_sizes_of_impossible_tapes_are_refused() -> None:
    with pytest.raises(InvalidArgument, match=r"\[tape_nbytes\] tape: expected .+, got 'columns'"):
        deltatape.tape_nbytes("columns", *SIZES)  # type: ignore[arg-type]
    with pytest.raises(InvalidArgument, match=r"\[tape_nbytes\] .+: expected sizes >= 0, got"):
        deltatape.tape_nbytes("dense", 1, -1, 1, 1, 1)


def test_a_tape_cannot_be_given_other_arrays(device: Device) -> None:
    _, _, tape = record(device, step_inputs(SHAPE))
    with pytest.raises(FrozenInstanceError):
        tape.decay = None


@pytest.mark.parametrize("kind", ["factored", "dense"])
def test_a_tape_of_several_is_the_tape_of_all_steps(device: Device, kind: str) -> None:
    layer = step_inputs(SHAPE)
    _, _, whole = record(device, layer, tape=kind)
    parts, state = [], layer.state
    for start, stop in ((0, 1), (1, 1), (1, 4), (4, 6)):
        _, state, part = record(device, replace(layer.steps(start, stop), state=state), tape=kind)
        parts.append(part)
    joined = type(whole).concatenate(parts)
    assert joined.steps == whole.steps
    for k in range(SHAPE.steps + 1):
        expected = replay(device, layer.state, whole, k)
        assert replay(device, layer.state, joined, k).tobytes() == expected.tobytes()


def factored(**changes: Any) -> FactoredTape:
    arrays: dict[str, Any] = {
        "decay": np.full((1, 2, 2), 0.5, np.float32),
        "scale": np.full((1, 2, 2), 2, np.float32),
        "u": np.ones((1, 2, 2, 3), np.float32),
        "v": np.ones((1, 2, 1, 4), np.float32),
    }
    return FactoredTape(**(arrays | changes))


def test_a_tape_without_a_scale_has_scales_of_1(device: Device) -> None:
    ones = factored(scale=np.ones((1, 2, 2), np.float32))
    state = np.ones((1, 2, 3, 4), np.float32)
    expected = replay(device, state, ones, 2)
    assert replay(device, state, factored(scale=None), 2).tobytes() == expected.tobytes()
    assert FactoredTape.concatenate([factored(scale=None)] * 2).scale is None
    mixed = FactoredTape.concatenate([factored(), factored(scale=None)])
    assert mixed.scale is not None
    assert mixed.scale[0, :, 0].tolist() == [2, 2, 1, 1]


def test_decays_of_columns_are_joined(device: Device) -> None:
    columns = factored(decay=np.full((1, 2, 2, 4), 0.5, np.float32))
    joined = FactoredTape.concatenate([columns, columns])
    state = np.ones((1, 2, 3, 4), np.float32)
    once = replay(device, state, columns, 2)
    expected = replay(device, once, columns, 2)
    assert replay(device, state, joined, 4).tobytes() == expected.tobytes()


def test_tapes_that_do_not_fit_together_are_refused() -> None:
    wide = factored(u=np.ones((1, 2, 2, 9), np.float32))
    columns = factored(decay=np.full((1, 2, 2, 4), 0.5, np.float32))
    for other, name in ((wide, "u"), (columns, "decay")):
        with pytest.raises(InvalidArgument, match=rf"\[concatenate\] {name}: expected .+, got"):
            FactoredTape.concatenate([factored(), other])
    half = factored(v=np.ones((1, 2, 1, 4), np.float16))
    with pytest.raises(UnsupportedDType, match=r"\[concatenate\] v: expected float32, got float16"):
        FactoredTape.concatenate([factored(), half])
    for kind in (FactoredTape, DenseTape):
        with pytest.raises(InvalidArgument, match=r"\[concatenate\] tapes: expected .+, got none"):
            kind.concatenate([])
