"""Reference cases of chunk_tri_solve_invert."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial

import numpy as np

from deltatape import Device, reference
from deltatape.verification import pinned, tolerances
from deltatape.verification.calls import invert
from deltatape.verification.case import Array, Case, poisoned
from deltatape.verification.comparisons import Comparison, elementwise, same_bytes
from deltatape.verification.inputs import DTYPES, dtype_of, matrices, row_in_chunk

KERNEL = "chunk_tri_solve_invert"

# Halfway between the largest float16 and the next power of two rounds to infinity.
FLOAT16_OVERFLOW = 65520.0


def repeated_keys(size: float) -> Callable[[Array, Array], Array]:
    """Every element below the diagonal the same, as keys that repeat give."""
    return lambda row, column: np.full(np.broadcast_shapes(row.shape, column.shape), size)


def alternating(row: Array, column: Array) -> Array:
    """Signs that make the inverse grow to 4e10 at 64 rows."""
    return np.where((row + column) % 2 == 0, -0.5, 0.5)


@dataclass(frozen=True)
class Edge:
    """A case's inputs: [B,T,H,BT], dtypes, sequences, and the elements if they are not random."""

    name: str
    shape: tuple[int, int, int, int] = (2, 70, 3, 32)
    given: str = "float32"
    result: str = "float32"
    cu_seqlens: tuple[int, ...] = ()
    elements: Callable[[Array, Array], Array] | None = None

    @property
    def dtypes(self) -> str:
        """Of a and of its inverse."""
        return f"{self.given} {self.result}"


EDGES = (
    *(Edge(f"BT {n}", (2, 3 * n, 3, n)) for n in (16, 32, 64)),
    Edge("ragged 16", (1, 63, 2, 16)),
    Edge("ragged 32", (1, 500, 1, 32)),
    Edge("ragged 64", (1, 1000, 1, 64)),
    Edge("one row", (2, 1, 3, 64)),
    Edge("one row in the last chunk", (1, 129, 2, 64)),
    Edge("sequences", (1, 300, 2, 64), cu_seqlens=(0, 15, 100, 200, 300)),
    Edge("short sequences", (1, 12, 2, 16), cu_seqlens=(0, 0, 5, 5, 12)),
    *(
        Edge(f"repeated keys, {size}", (1, 64, 2, 64), elements=repeated_keys(size))
        for size in (1.0, 0.5, 0.9, 2.0)
    ),
    Edge("alternating signs", (1, 64, 2, 64), elements=alternating),
    Edge("alternating signs", (1, 64, 2, 64), result="float16", elements=alternating),
    Edge("zeros", (1, 40, 2, 32), elements=repeated_keys(0.0)),
    Edge("no steps", (2, 0, 3, 16)),
    Edge("no sequences", (0, 20, 3, 16)),
    Edge("no heads", (1, 20, 0, 16)),
)


def cases() -> Iterator[Case]:
    """Every case of this kernel."""
    pairs = (Edge("dtypes", given=i, result=o) for i in DTYPES for o in DTYPES)
    for edge in (*pairs, *EDGES):
        yield Case(KERNEL, edge.name, edge.dtypes, partial(compare, edge))


def compare(edge: Edge, device: Device) -> list[Comparison]:
    """Run the case on a device, with NaN in every element that must not be read."""
    a = build(edge)
    out = poisoned(device, a.shape, dtype_of(edge.result))
    cu_seqlens = edge.cu_seqlens or None
    got = invert(device, a, cu_seqlens=cu_seqlens, out=out)
    strict = chunks(np.nan_to_num(a.astype(np.float32)), edge.cu_seqlens)
    exact = chunks(reference.chunk_tri_solve_invert(a, cu_seqlens=cu_seqlens), edge.cu_seqlens)
    return compare_chunks(strict, exact, chunks(got, edge.cu_seqlens))


def compare_chunks(strict: Array, exact: Array, got: Array) -> list[Comparison]:
    """Square chunks [n,BT,BT], those with fewer rows continued with zeros."""
    bounds = tolerances.inverse(strict.astype(np.float64), exact, got.dtype)
    overflows = (got.dtype == np.float16) & (np.abs(exact) >= FLOAT16_OVERFLOW)
    stored = np.where(overflows, np.copysign(np.inf, exact), exact)
    above = np.triu(np.ones(got.shape[-2:], bool), 1)
    return [
        elementwise("inverse", got, stored, bounds),
        same_bytes("above the diagonal", got[:, above], np.zeros_like(got[:, above])),
        same_bytes("bytes", got, cut(pinned.invert(strict, got.dtype), exact)),
    ]


def cut(inverse: Array, exact: Array) -> Array:
    """Without the ones on the diagonal of rows that a chunk does not have."""
    missing = np.diagonal(exact, axis1=-2, axis2=-1) == 0
    inverse[missing] = 0
    return inverse


def build(edge: Edge) -> Array:
    """Return the matrices of a case."""
    a = matrices(edge.shape, 1, edge.given, edge.cu_seqlens or None)
    if edge.elements is None:
        return a
    _, steps, _, chunk = edge.shape
    rows = row_in_chunk(steps, chunk, edge.cu_seqlens or None)
    column = np.arange(chunk)
    elements = edge.elements(rows[:, None], column)
    below = column < rows[:, None]
    return np.where(below[:, None], elements[:, None], a).astype(dtype_of(edge.given))


def chunks(a: Array, cu_seqlens: tuple[int, ...]) -> Array:
    """[B,T,H,BT] as square chunks [n,BT,BT], missing rows zero."""
    batch, steps, heads, chunk = a.shape
    rows = row_in_chunk(steps, chunk, cu_seqlens or None)
    number = np.cumsum(rows == 0) - 1
    count = int(number[-1]) + 1 if steps else 0
    square = np.zeros((batch, heads, count, chunk, chunk), a.dtype)
    square[:, :, number, rows] = a.transpose(0, 2, 1, 3)
    return square.reshape(-1, chunk, chunk)
