"""How time grows with one size while the others stay."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from deltatape.benchmark.measure import Result


@dataclass(frozen=True)
class Growth:
    """A point of a sweep.

    Parameters
    ----------
    title
        The work.
    symbol, size
        What is varied, and its value.
    seconds
        For one call.
    times, copy_times
        The time over that of the smallest size, and the same of the copy.
    linear
        The size over the smallest.
    over_line
        The time over that of a straight line through the sweep, a constant and a time for each
        unit of the size: near 1 everywhere where growth is linear.
    """

    title: str
    symbol: str
    size: int
    seconds: float
    times: float
    copy_times: float
    linear: float
    over_line: float


def growth(results: Sequence[Result]) -> list[Growth]:
    """Tell how time grows in works that differ in one size."""
    sizes = [each.work.sizes for each in results]
    (symbol,) = (name for name in sizes[0] if len({each[name] for each in sizes}) > 1)
    line = sorted(results, key=lambda each: each.work.sizes[symbol])
    size = np.array([float(each.work.sizes[symbol]) for each in line])
    seconds = np.array([each.seconds.median / each.work.layers for each in line])
    copied = np.array([each.copy_seconds.median / each.work.layers for each in line])
    columns = (
        seconds,
        seconds / seconds[0],
        copied / copied[0],
        size / size[0],
        seconds / straight_line(size, seconds),
    )
    return [
        Growth(each.work.title, symbol, each.work.sizes[symbol], *map(float, numbers))
        for each, *numbers in zip(line, *columns, strict=True)
    ]


def straight_line(x: NDArray[np.float64], y: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the values at x of the line a + b * x that deviates least from y, relative to y."""
    slope, constant = np.polyfit(x, y, 1, w=1 / y)
    line: NDArray[np.float64] = constant + slope * x
    return line
