"""What everything is compared with: a copy of the same bytes."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

Part = list[tuple[NDArray[Any], NDArray[Any]]]


class Copy:
    """Copies memory that no kernel touches, one block for each layer.

    Parameters
    ----------
    layers
        How many blocks.
    nbytes
        The size of each.
    threads
        How many threads copy, each a part of every block; numpy releases the interpreter's lock.
    """

    def __init__(self, layers: int, nbytes: int, threads: int) -> None:
        self.threads = threads
        source = np.ones((layers, nbytes), np.uint8)
        target = np.zeros_like(source)
        edges = [nbytes * part // threads for part in range(threads + 1)]
        self._parts: list[Part] = [
            [(target[layer, a:b], source[layer, a:b]) for layer in range(layers)]
            for a, b in pairwise(edges)
        ]
        self._helpers = ThreadPoolExecutor(max(1, threads - 1))

    def __call__(self) -> None:
        """Copy everything once."""
        others = [self._helpers.submit(_copy, part) for part in self._parts[1:]]
        _copy(self._parts[0])
        for other in others:
            other.result()


def _copy(part: Part) -> None:
    for target, source in part:
        np.copyto(target, source)
