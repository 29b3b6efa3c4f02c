"""How far results lie from what is expected."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]


@dataclass(frozen=True)
class Comparison:
    """One comparison: it holds when `worst` is not above `bound`.

    `unit` says what they count: "of bound" for elementwise bounds, "bytes" for equal bytes.
    """

    what: str
    worst: float
    bound: float
    unit: str = ""

    @property
    def holds(self) -> bool:
        """Whether the error is within its bound."""
        return self.worst <= self.bound

    @property
    def share(self) -> float:
        """How much of the bound is used up."""
        if self.worst <= self.bound:
            return self.worst / self.bound if self.bound else 0.0
        return np.inf


def failures(found: Iterable[Comparison]) -> list[Comparison]:
    """Return the comparisons that do not hold."""
    return [each for each in found if not each.holds]


def wide(values: Array) -> NDArray[np.float64]:
    """Return the same values in float64."""
    return values.astype(np.float32).astype(np.float64) if values.dtype != np.float64 else values


def normwise(
    what: str, actual: Array, expected: Array, axes: tuple[int, ...], bound: float
) -> Comparison:
    """Compare max|error| / max|expected| of the worst slice across `axes` with a bound."""
    got, want = wide(actual), wide(expected)
    if got.shape != want.shape:
        return Comparison(what, np.inf, bound)
    if want.size == 0:
        return Comparison(what, 0.0, bound)
    finite = np.isfinite(want)
    if not np.array_equal(np.where(finite, 0, got), np.where(finite, 0, want), equal_nan=True):
        return Comparison(what, np.inf, bound)
    largest_error = np.abs(np.where(finite, got - want, 0)).max(axis=axes)
    largest = np.abs(np.where(finite, want, 0)).max(axis=axes)
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.where(largest_error == 0, 0.0, largest_error / largest)
    return Comparison(what, worst_of(ratio), bound)


def elementwise(what: str, actual: Array, expected: Array, bounds: Array) -> Comparison:
    """Compare each error with its element's own bound; equal infinities agree."""
    got, want = wide(actual), wide(expected)
    if got.shape != want.shape:
        return Comparison(what, np.inf, 1.0, "of bound")
    with np.errstate(divide="ignore", invalid="ignore"):
        error = np.where(got == want, 0.0, np.abs(got - want))
        share = np.where(error == 0, 0.0, error / bounds)
    return Comparison(what, worst_of(share), 1.0, "of bound")


def same_bytes(what: str, actual: Array, expected: Array) -> Comparison:
    """Count the bytes that differ."""
    got = np.frombuffer(actual.tobytes(), np.uint8)
    want = np.frombuffer(expected.tobytes(), np.uint8)
    if actual.shape != expected.shape or got.size != want.size:
        return Comparison(what, np.inf, 0.0, "bytes")
    return Comparison(what, float(np.count_nonzero(got != want)), 0.0, "bytes")


def worst_of(values: Array) -> float:
    """Return the largest value; a NaN is worse than any bound."""
    if values.size == 0:
        return 0.0
    worst = float(values.max())
    return np.inf if np.isnan(worst) else worst
