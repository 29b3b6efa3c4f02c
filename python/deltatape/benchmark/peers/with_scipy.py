"""scipy's triangular inverse from LAPACK."""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deltatape.benchmark.peers import Peer, plain

lapack = importlib.import_module("scipy.linalg.lapack")


def invert(a: NDArray[Any]) -> Iterator[Peer]:
    """Invert chunk by chunk; LAPACK reads the transpose, whose triangle is the other one."""
    yield plain.Layers(_strtri, [(a,)], plain.nothing).as_peer(
        "scipy strtri", "one thread", inverse=True
    )


def _strtri(a: NDArray[Any]) -> NDArray[Any]:
    square = np.ascontiguousarray(plain.blocks(a))
    flat = square.reshape(-1, *square.shape[-2:])
    for block in flat:
        lapack.strtri(block.T, lower=0, unitdiag=1, overwrite_c=1)
    result = np.tril(flat, -1) + np.eye(a.shape[-1], dtype=a.dtype)
    return np.ascontiguousarray(plain.unblocked(result.reshape(square.shape), a))
