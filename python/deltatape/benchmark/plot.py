"""A picture of time against size."""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from typing import Any

import numpy as np

from deltatape import InvalidArgument
from deltatape.benchmark.measure import Result
from deltatape.benchmark.timing import Spread


def plot(results: Sequence[Result], path: str) -> None:
    """Draw each work's time, and the copy's, against the bytes moved, both axes logarithmic.

    Parameters
    ----------
    results
        What was measured.
    path
        A file; its name's end says in which format.
    """
    axes, figure = _axes()
    for name in sorted({each.work.title for each in results}):
        mine = [(_size(each), each.seconds) for each in results if each.work.title == name]
        _draw(axes, mine, marker="o", linestyle="", label=name)
    _draw(axes, [(_size(each), each.copy_seconds) for each in results], color="black", label="copy")
    axes.set(xscale="log", yscale="log", xlabel="bytes read and written", ylabel="seconds")
    axes.legend(fontsize="small", loc="upper left", bbox_to_anchor=(1, 1))
    axes.grid(visible=True, which="both", alpha=0.2)
    figure.savefig(path, dpi=150, bbox_inches="tight")


def require() -> None:
    """Refuse before anything is measured if the picture cannot be drawn."""
    try:
        importlib.import_module("matplotlib")
    except ImportError as missing:
        raise InvalidArgument(
            "[bench] --plot: expected matplotlib (pip install 'deltatape[bench]'), got none"
        ) from missing


def _axes() -> tuple[Any, Any]:
    figure = importlib.import_module("matplotlib.figure").Figure(figsize=(9, 6))
    return figure.subplots(), figure


def _size(result: Result) -> int:
    return result.work.layers * result.work.moved


def _draw(axes: Any, times: Sequence[tuple[int, Spread]], **style: Any) -> None:
    """Draw one point for each size: the median of what was measured there."""
    sizes = sorted({size for size, _ in times})
    medians = [float(np.median([s.median for at, s in times if at == size])) for size in sizes]
    axes.plot(sizes, medians, **style)
