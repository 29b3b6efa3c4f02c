"""How time grows with one size while the others stay."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

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
    times
        The time over that of the smallest size.
    linear
        The size over the smallest, which `times` is where growth is linear.
    """

    title: str
    symbol: str
    size: int
    seconds: float
    times: float
    linear: float


def growth(results: Sequence[Result]) -> Iterator[Growth]:
    """Yield the points of every sweep, by work, symbol and size."""
    for title in dict.fromkeys(each.work.title for each in results):
        mine = [each for each in results if each.work.title == title]
        for symbol in mine[0].work.sizes:
            yield from _along(title, symbol, mine)


def _along(title: str, symbol: str, results: Sequence[Result]) -> Iterator[Growth]:
    usual = {
        other: Counter(each.work.sizes[other] for each in results).most_common(1)[0][0]
        for other in results[0].work.sizes
        if other != symbol
    }
    line = {
        each.work.sizes[symbol]: each.seconds.median / each.work.layers
        for each in results
        if usual.items() <= each.work.sizes.items()
    }
    if len(line) < 2:
        return
    smallest = min(line)
    for size, seconds in sorted(line.items()):
        times = seconds / line[smallest]
        yield Growth(title, symbol, size, seconds, times, size / smallest)
