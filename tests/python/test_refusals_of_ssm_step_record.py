"""Every argument of ssm_step_record, broken in turn."""

from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from deltatape import InvalidArgument, UnsupportedDType, ssm_step_record

B, T, H, G, Dh, Ds = 2, 3, 4, 2, 3, 5
SHAPES = {
    "x": (B, T, H, Dh),
    "a_log": (H,),
    "b": (B, T, G, Ds),
    "c": (B, T, G, Ds),
    "d": (H,),
    "dt": (B, T, H),
    "state": (B, H, Dh, Ds),
}
OUTPUTS = {"y": (B, T, H, Dh), "state_out": (B, H, Dh, Ds)}
TAPES = {
    "factored": {"decay": (B, T, H), "scale": (B, T, H)},
    "dense": {"da_log": (B, T, H, Ds), "dbx_log": (B, T, H, Dh, Ds)},
}


def poisoned(shape: tuple[int, ...]) -> np.ndarray:
    return np.full(shape, np.nan, np.float32)


def valid(tape: str = "factored", **outputs: Any) -> dict[str, Any]:
    """Arguments that are all right, with every output given; `outputs` replace some of them."""
    made = {name: np.ones(shape, np.float32) for name, shape in SHAPES.items()}
    made["mask"] = np.ones((B, T), bool)
    shapes = OUTPUTS | TAPES[tape]
    y, state, first, second = (outputs.get(name, poisoned(shape)) for name, shape in shapes.items())
    return made | {"tape": tape, "out": (y, state, (first, second))}


def pooled(**changes: Any) -> dict[str, Any]:
    pool = np.ones((4, H, Dh, Ds), np.float32)
    given = {"state": pool, "slots": np.array([2, 0]), "out": None}
    return valid() | given | changes


def test_the_arguments_that_are_broken_below_are_right(stream: Any) -> None:
    for arguments in (valid(), valid("dense"), pooled()):
        y, _, tape = ssm_step_record(**arguments, stream=stream)
        stream.wait()
        assert np.isfinite(y).all()
        assert tape.steps == T


@pytest.mark.parametrize("name", [*SHAPES, "mask"])
def test_shapes(refuses: Callable[..., None], name: str) -> None:
    right = valid()[name]
    for wrong in (right[None], right[..., :-1].copy()):
        # A dimension of x or b is the one that the others are measured by.
        named = f"({name}|a_log|b|c|dt|d|state|mask|y)"
        refuses(ssm_step_record, valid() | {name: wrong}, InvalidArgument, named)


@pytest.mark.parametrize("name", [*SHAPES, "mask"])
def test_a_scalar_in_an_arrays_place(refuses: Callable[..., None], name: str) -> None:
    scalar = valid()[name].flat[0]
    refuses(ssm_step_record, valid() | {name: scalar}, InvalidArgument, name)


@pytest.mark.parametrize("name", ["x", "a_log", "b", "c", "dt"])
def test_an_array_that_is_missing(refuses: Callable[..., None], name: str) -> None:
    refuses(ssm_step_record, valid() | {name: None}, InvalidArgument, name)


@pytest.mark.parametrize("name", SHAPES)
@pytest.mark.parametrize("dtype", ["float64", "int32", "uint16", "complex64", "O", "U1", ">f8"])
def test_element_types(refuses: Callable[..., None], name: str, dtype: str) -> None:
    wrong = valid()[name].astype(dtype)
    refuses(ssm_step_record, valid() | {name: wrong}, UnsupportedDType, name)


@pytest.mark.parametrize("name", ["b", "c", "a_log", "d", "dt"])
@pytest.mark.parametrize("dtype", [np.float16, ml_dtypes.bfloat16])
def test_a_16_bit_type_that_is_not_the_activations(
    refuses: Callable[..., None], name: str, dtype: type
) -> None:
    wrong = valid()[name].astype(dtype)
    refuses(ssm_step_record, valid() | {name: wrong}, UnsupportedDType, name)


@pytest.mark.parametrize("tape", TAPES)
@pytest.mark.parametrize("place", range(4))
def test_outputs(
    refuses: Callable[..., None], bad_output: Callable[..., Any], tape: str, place: int
) -> None:
    name, shape = list((OUTPUTS | TAPES[tape]).items())[place]
    wrong = bad_output(poisoned(shape))
    refuses(ssm_step_record, valid(tape, **{name: wrong}), InvalidArgument, name)


@pytest.mark.parametrize("tape", TAPES)
@pytest.mark.parametrize("place", range(4))
def test_outputs_element_types(refuses: Callable[..., None], tape: str, place: int) -> None:
    name, shape = list((OUTPUTS | TAPES[tape]).items())[place]
    dtypes = ["float64", "int32"] + ["float16"] * (name != "dbx_log")
    for dtype in dtypes:
        arguments = valid(tape, **{name: np.ones(shape, dtype)})
        refuses(ssm_step_record, arguments, UnsupportedDType, name)


@pytest.mark.parametrize("name", ["y", "state_out", "decay", "scale"])
@pytest.mark.parametrize("other", ["x", "state", "b", "dt"])
def test_an_output_that_overlaps_an_input(
    refuses: Callable[..., None], name: str, other: str
) -> None:
    arguments = valid()
    shape = (OUTPUTS | TAPES["factored"])[name]
    memory = np.ones(arguments[other].size + np.prod(shape) - 1, np.float32)
    arguments[other] = memory[: arguments[other].size].reshape(arguments[other].shape)
    overlapping = memory[arguments[other].size - 1 :].reshape(shape)
    arguments["out"] = valid(**{name: overlapping})["out"]
    refuses(ssm_step_record, arguments, InvalidArgument, name)


@pytest.mark.parametrize(
    ("out", "named"),
    [
        ([None, None], "out"),
        ((None,), "out"),
        ((None, None, None, None), "out"),
        (poisoned((B, T, H, Dh)), "out"),
        ((None, None, poisoned((B, T, H))), "out"),
        ((None, None, (None,)), "out"),
    ],
)
def test_the_form_of_out(refuses: Callable[..., None], out: Any, named: str) -> None:
    refuses(ssm_step_record, valid() | {"out": out}, InvalidArgument, named)


@pytest.mark.parametrize("tape", ["sparse", "", True, 1, "columns"])
def test_kinds_of_tape(refuses: Callable[..., None], tape: Any) -> None:
    refuses(ssm_step_record, valid() | {"tape": tape}, InvalidArgument, "tape")


def test_options_that_contradict_each_other(refuses: Callable[..., None]) -> None:
    refuses(ssm_step_record, valid() | {"advance": False}, InvalidArgument, "out")
    refuses(ssm_step_record, valid() | {"tape": None}, InvalidArgument, "out")
    refuses(ssm_step_record, pooled(state=None), InvalidArgument, "state")
    other = poisoned((4, H, Dh, Ds))
    refuses(ssm_step_record, pooled(out=(None, other)), InvalidArgument, "state_out")
    refuses(ssm_step_record, valid() | {"mask": np.ones((B, T))}, UnsupportedDType, "mask")


@pytest.mark.parametrize(
    ("slots", "error"),
    [
        ([0, 0], InvalidArgument),
        ([0, 4], InvalidArgument),
        ([-2, 0], InvalidArgument),
        ([0, 2**40], InvalidArgument),
        (np.array([0, 2**63], np.uint64), InvalidArgument),
        ([0], InvalidArgument),
        ([[0, 1]], InvalidArgument),
        (0, InvalidArgument),
        ([0.0, 1.0], UnsupportedDType),
        ([True, False], UnsupportedDType),
    ],
)
def test_slots(refuses: Callable[..., None], slots: Any, error: type) -> None:
    refuses(ssm_step_record, pooled(slots=slots), error, "slots")


def test_a_pool_that_cannot_be_written_in_place(
    refuses: Callable[..., None], bad_output: Callable[..., Any]
) -> None:
    pool = bad_output(np.ones((4, H, Dh, Ds), np.float32))
    refuses(ssm_step_record, pooled(state=pool), InvalidArgument, "state")


@pytest.mark.parametrize(
    ("has_initial", "error"),
    [
        ([1.0, 0.0], UnsupportedDType),
        (["a", "b"], UnsupportedDType),
        ([1], InvalidArgument),
        ([[1, 0]], InvalidArgument),
        (True, InvalidArgument),
    ],
)
def test_has_initial(refuses: Callable[..., None], has_initial: Any, error: type) -> None:
    refuses(ssm_step_record, valid() | {"has_initial": has_initial}, error, "has_initial")


@pytest.mark.parametrize("groups", [3, 0, 8])
def test_groups_that_do_not_divide_the_heads(refuses: Callable[..., None], groups: int) -> None:
    wrong = np.ones((B, T, groups, Ds), np.float32)
    refuses(ssm_step_record, valid() | {"b": wrong, "c": wrong}, InvalidArgument, "groups")
