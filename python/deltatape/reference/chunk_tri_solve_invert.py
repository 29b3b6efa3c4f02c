"""The inverse in the chunked gated delta rule (Yang, Kautz, Hatamizadeh 2024, arXiv:2412.06464)."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]


@np.errstate(over="ignore", invalid="ignore")
def chunk_tri_solve_invert(a: Array, *, cu_seqlens: npt.ArrayLike | None = None) -> Array:
    """Return what `deltatape.chunk_tri_solve_invert` does, in float64."""
    BT = a.shape[3]
    inverse = np.zeros(a.shape)
    bounds = [0, a.shape[1]] if cu_seqlens is None else np.asarray(cu_seqlens).tolist()
    for start, stop in pairwise(bounds):
        for first in range(start, stop, BT):
            rows = slice(first, min(first + BT, stop))
            n = rows.stop - rows.start
            L = np.tril(a[:, rows, :, :n].swapaxes(1, 2).astype(np.float64), -1)
            X = np.zeros_like(L) + np.eye(n)
            for i in range(n):
                X[..., i, :] -= (L[..., i, None, :i] @ X[..., :i, :])[..., 0, :]
            inverse[:, rows, :, :n] = X.swapaxes(1, 2)
    return inverse
