"""Every argument of ssm_replay, broken in turn."""

from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from deltatape import DenseTape, FactoredTape, InvalidArgument, UnsupportedDType, ssm_replay

B, T, H, G, Dh, Ds = 2, 3, 4, 2, 3, 5
STATE = (B, H, Dh, Ds)
FACTORED = {"decay": (B, T, H), "scale": (B, T, H), "u": (B, T, H, Dh), "v": (B, T, G, Ds)}
COLUMNS = FACTORED | {"decay": (B, T, H, Ds)}
DENSE = {"da_log": (B, T, H, Ds), "dbx_log": (B, T, H, Dh, Ds)}
TAPES = {"factored": FACTORED, "columns": COLUMNS, "dense": DENSE}
FIELDS = [(kind, field) for kind, shapes in TAPES.items() for field in shapes]


def tape_of(kind: str, **changes: Any) -> FactoredTape | DenseTape:
    arrays = {name: np.ones(shape, np.float32) for name, shape in TAPES[kind].items()}
    return (DenseTape if kind == "dense" else FactoredTape)(**(arrays | changes))


def valid(kind: str = "factored", **changes: Any) -> dict[str, Any]:
    arguments = {
        "state": np.ones(STATE, np.float32),
        "tape": tape_of(kind),
        "k": np.array([1, T]),
        "mask": np.ones((B, T), bool),
        "out": np.full(STATE, np.nan, np.float32),
    }
    return arguments | changes


def pooled(**changes: Any) -> dict[str, Any]:
    pool = np.ones((4, H, Dh, Ds), np.float32)
    return valid(state=pool, slots=[2, 0], out=None) | changes


def test_the_arguments_that_are_broken_below_are_right(stream: Any) -> None:
    for arguments in (*(valid(kind) for kind in TAPES), pooled()):
        state = ssm_replay(**arguments, stream=stream)
        stream.wait()
        assert np.isfinite(state).all()


@pytest.mark.parametrize(("kind", "field"), FIELDS)
def test_the_tapes_shapes(refuses: Callable[..., None], kind: str, field: str) -> None:
    right = getattr(tape_of(kind), field)
    named = f"({field}|u|v|decay|scale|da_log|dbx_log|state)"
    for wrong in (right[:, :1], right[..., :-1], right[None]):
        refuses(ssm_replay, valid(tape=tape_of(kind, **{field: wrong})), InvalidArgument, named)


@pytest.mark.parametrize(("kind", "field"), FIELDS)
@pytest.mark.parametrize("dtype", ["float64", "int32", "O", ">f8"])
def test_the_tapes_element_types(
    refuses: Callable[..., None], kind: str, field: str, dtype: str
) -> None:
    wrong = getattr(tape_of(kind), field).astype(dtype)
    refuses(ssm_replay, valid(tape=tape_of(kind, **{field: wrong})), UnsupportedDType, field)


@pytest.mark.parametrize("dtype", [np.float16, ml_dtypes.bfloat16])
@pytest.mark.parametrize(
    ("kind", "field"),
    [("factored", "decay"), ("factored", "scale"), ("columns", "decay"), ("dense", "da_log")],
)
def test_decays_and_scales_of_16_bits(
    refuses: Callable[..., None], kind: str, field: str, dtype: type
) -> None:
    wrong = getattr(tape_of(kind), field).astype(dtype)
    refuses(ssm_replay, valid(tape=tape_of(kind, **{field: wrong})), UnsupportedDType, field)


@pytest.mark.parametrize("field", ["decay", "u", "v"])
def test_a_tape_that_lacks_an_array(refuses: Callable[..., None], field: str) -> None:
    refuses(ssm_replay, valid(tape=tape_of("factored", **{field: None})), InvalidArgument, field)


@pytest.mark.parametrize("tape", [None, "factored", np.ones(3, np.float32), (None, None)])
def test_what_is_no_tape(refuses: Callable[..., None], tape: Any) -> None:
    refuses(ssm_replay, valid(tape=tape), InvalidArgument, "tape")


@pytest.mark.parametrize("state", [None, np.float32(1), np.ones((B, H, Dh, Ds - 1), np.float32)])
def test_the_states_shape(refuses: Callable[..., None], state: Any) -> None:
    refuses(ssm_replay, valid(state=state), InvalidArgument, "state")


@pytest.mark.parametrize("dtype", ["float64", "int32", "complex64", "O"])
def test_the_states_element_type(refuses: Callable[..., None], dtype: str) -> None:
    refuses(ssm_replay, valid(state=np.ones(STATE, dtype)), UnsupportedDType, "state")


@pytest.mark.parametrize("kind", TAPES)
@pytest.mark.parametrize(
    ("k", "error"),
    [
        (-1, InvalidArgument),
        (T + 1, InvalidArgument),
        ([0, T + 1], InvalidArgument),
        (2**31, InvalidArgument),
        (2**32 + 1, InvalidArgument),
        (np.array([0, 2**32]), InvalidArgument),
        (np.array([2**64 - 1, 0], np.uint64), InvalidArgument),
        ([1], InvalidArgument),
        ([1, 1, 1], InvalidArgument),
        ([[1, 1]], InvalidArgument),
        (1.0, UnsupportedDType),
        ([1.0, 2.0], UnsupportedDType),
        (True, UnsupportedDType),
        ([True, False], UnsupportedDType),
        (None, UnsupportedDType),
        ("1", UnsupportedDType),
    ],
)
def test_k(refuses: Callable[..., None], kind: str, k: Any, error: type) -> None:
    refuses(ssm_replay, valid(kind, k=k), error, "k")


@pytest.mark.parametrize(
    ("mask", "error"),
    [
        (np.ones((B, T)), UnsupportedDType),
        (np.ones((B, T), "O"), UnsupportedDType),
        (np.ones((B, T + 1), bool), InvalidArgument),
        (np.ones(T, bool), InvalidArgument),
    ],
)
def test_mask(refuses: Callable[..., None], mask: Any, error: type) -> None:
    refuses(ssm_replay, valid(mask=mask), error, "mask")


def test_out(refuses: Callable[..., None], bad_output: Callable[..., Any]) -> None:
    out = bad_output(np.full(STATE, np.nan, np.float32))
    refuses(ssm_replay, valid(out=out), InvalidArgument, "state_out")


def test_a_state_that_cannot_be_written_in_place(
    refuses: Callable[..., None], bad_output: Callable[..., Any]
) -> None:
    state = bad_output(np.ones(STATE, np.float32))
    refuses(ssm_replay, valid(state=state, out=state), InvalidArgument, "state")
    pool = bad_output(np.ones((4, H, Dh, Ds), np.float32))
    refuses(ssm_replay, pooled(state=pool), InvalidArgument, "state")


@pytest.mark.parametrize("dtype", ["float64", "float16", "int32"])
def test_outs_element_type(refuses: Callable[..., None], dtype: str) -> None:
    refuses(ssm_replay, valid(out=np.ones(STATE, dtype)), UnsupportedDType, "state_out")


@pytest.mark.parametrize("other", ["state", *FACTORED])
def test_an_output_that_overlaps_an_input(refuses: Callable[..., None], other: str) -> None:
    shape = ({"state": STATE} | FACTORED)[other]
    size = int(np.prod(shape))
    memory = np.ones(size + int(np.prod(STATE)) - 1, np.float32)
    overlapped = memory[:size].reshape(shape)
    changes: dict[str, Any] = {"out": memory[size - 1 :].reshape(STATE)}
    if other == "state":
        changes["state"] = overlapped
    else:
        changes["tape"] = tape_of("factored", **{other: overlapped})
    refuses(ssm_replay, valid(**changes), InvalidArgument, "state_out")


@pytest.mark.parametrize(
    ("slots", "error"),
    [
        ([1, 1], InvalidArgument),
        ([0, 4], InvalidArgument),
        ([-2, 0], InvalidArgument),
        ([0], InvalidArgument),
        ([0.0, 1.0], UnsupportedDType),
    ],
)
def test_slots(refuses: Callable[..., None], slots: Any, error: type) -> None:
    refuses(ssm_replay, pooled(slots=slots), error, "slots")


def test_a_pool_is_written_nowhere_else(refuses: Callable[..., None]) -> None:
    other = np.full((4, H, Dh, Ds), np.nan, np.float32)
    refuses(ssm_replay, pooled(out=other), InvalidArgument, "state_out")
