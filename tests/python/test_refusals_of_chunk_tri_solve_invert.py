"""Every argument of chunk_tri_solve_invert, broken in turn."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from deltatape import InvalidArgument, UnsupportedDType, chunk_tri_solve_invert

SHAPE = (1, 20, 2, 16)


def valid(**changes: Any) -> dict[str, Any]:
    arguments = {
        "a": np.ones(SHAPE, np.float32),
        "cu_seqlens": np.array([0, 7, 7, 20]),
        "dtype": None,
        "out": np.full(SHAPE, np.nan, np.float32),
    }
    return arguments | changes


def test_the_arguments_that_are_broken_below_are_right(stream: Any) -> None:
    inverse = chunk_tri_solve_invert(**valid(), stream=stream)
    stream.wait()
    assert np.isfinite(inverse).all()


@pytest.mark.parametrize("shape", [(), (20, 2, 16), (1, *SHAPE)])
def test_as_rank(refuses: Callable[..., None], shape: tuple[int, ...]) -> None:
    refuses(chunk_tri_solve_invert, valid(a=np.ones(shape, np.float32)), InvalidArgument, "a")


@pytest.mark.parametrize("rows", [0, 1, 8, 15, 17, 24, 128])
def test_the_rows_of_a_chunk(refuses: Callable[..., None], rows: int) -> None:
    wrong = np.ones((1, 20, 2, rows), np.float32)
    refuses(chunk_tri_solve_invert, valid(a=wrong, out=None), InvalidArgument, "chunk")


@pytest.mark.parametrize("dtype", ["float64", "int32", "uint16", "complex64", "O", ">f8"])
def test_as_element_type(refuses: Callable[..., None], dtype: str) -> None:
    refuses(chunk_tri_solve_invert, valid(a=np.ones(SHAPE, dtype)), UnsupportedDType, "a")


def test_a_that_is_missing(refuses: Callable[..., None]) -> None:
    refuses(chunk_tri_solve_invert, valid(a=None), InvalidArgument, "a")


@pytest.mark.parametrize(
    ("cu_seqlens", "error", "named"),
    [
        ([], UnsupportedDType, "cu_seqlens"),
        (np.array([], int), InvalidArgument, "cu_seqlens.*"),
        ([0], InvalidArgument, "cu_seqlens.*"),
        ([1, 20], InvalidArgument, "cu_seqlens"),
        ([0, 19], InvalidArgument, "cu_seqlens"),
        ([0, 21], InvalidArgument, "cu_seqlens"),
        ([0, 8, 7, 20], InvalidArgument, "cu_seqlens"),
        ([0, -1, 20], InvalidArgument, "cu_seqlens"),
        ([0, 2**32, 20], InvalidArgument, "cu_seqlens"),
        ([[0, 20]], InvalidArgument, "cu_seqlens"),
        (20, InvalidArgument, "cu_seqlens"),
        ([0.0, 20.0], UnsupportedDType, "cu_seqlens"),
        ([False, True], UnsupportedDType, "cu_seqlens"),
    ],
)
def test_cu_seqlens(refuses: Callable[..., None], cu_seqlens: Any, error: type, named: str) -> None:
    refuses(chunk_tri_solve_invert, valid(cu_seqlens=cu_seqlens), error, named)


def test_cu_seqlens_of_several_batches(refuses: Callable[..., None]) -> None:
    a = np.ones((2, *SHAPE[1:]), np.float32)
    refuses(chunk_tri_solve_invert, valid(a=a, out=None), InvalidArgument, "batch")


def test_out(refuses: Callable[..., None], bad_output: Callable[..., Any]) -> None:
    out = bad_output(np.full(SHAPE, np.nan, np.float32))
    refuses(chunk_tri_solve_invert, valid(out=out), InvalidArgument, "a_inv")


@pytest.mark.parametrize("dtype", ["float64", "int32", "O"])
def test_results_element_types(refuses: Callable[..., None], dtype: str) -> None:
    refuses(chunk_tri_solve_invert, valid(dtype=dtype), UnsupportedDType, "dtype")
    refuses(chunk_tri_solve_invert, valid(out=np.ones(SHAPE, dtype)), UnsupportedDType, "a_inv")


def test_a_dtype_that_is_not_outs(refuses: Callable[..., None]) -> None:
    refuses(chunk_tri_solve_invert, valid(dtype=np.float16), UnsupportedDType, "a_inv")


@pytest.mark.parametrize("dtype", ["float32", "float16"])
def test_an_output_that_overlaps_a_in_part(refuses: Callable[..., None], dtype: str) -> None:
    size = int(np.prod(SHAPE))
    memory = np.ones(2 * size, dtype)
    a, out = memory[:size].reshape(SHAPE), memory[1 : size + 1].reshape(SHAPE)
    refuses(chunk_tri_solve_invert, valid(a=a, out=out), InvalidArgument, "a_inv")


def test_in_place_with_another_element_size(refuses: Callable[..., None]) -> None:
    memory = np.ones(SHAPE, np.float32)
    half = memory.reshape(-1).view(np.float16)[: memory.size].reshape(SHAPE)
    refuses(chunk_tri_solve_invert, valid(a=memory, out=half), InvalidArgument, "a_inv")
