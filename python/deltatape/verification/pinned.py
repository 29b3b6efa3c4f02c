"""The arithmetic that every device shares, to the byte, written once more in numpy.

float64 only carries exact products here; every result is rounded to float32 exactly where the
kernels round. Slow, and used for comparing bytes only.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Float32 = NDArray[np.float32]

ONE_NAN = {"float32": 0x7FC00000, "float16": 0x7E00, "bfloat16": 0x7FC0}


def fma(a: Float32, b: Float32, c: Float32) -> Float32:
    """Return a * b + c, rounded once.

    The float64 sum is rounded to odd, so that rounding it again to float32 is exact.
    """
    with np.errstate(all="ignore"):
        product = a.astype(np.float64) * b
        total = np.asarray(product + c)
        part = total - product
        error = (product - (total - part)) + (c - part)
        bits = total.view(np.int64)
        even = np.isfinite(total) & (error != 0) & (bits & 1 == 0)
        away = np.where((error > 0) == (total > 0), 1, -1)
        odd = np.asarray(bits + np.where(even, away, 0)).view(np.float64)
        return odd.astype(np.float32)


def store(values: Float32, dtype: Any) -> NDArray[Any]:
    """Round to nearest even, with one NaN."""
    with np.errstate(all="ignore"):
        stored = values.astype(dtype)
    width = f"u{stored.dtype.itemsize}"
    stored.view(width)[np.isnan(values)] = ONE_NAN[str(stored.dtype)]
    return stored


def fold(
    state: NDArray[Any],
    decay: Float32,
    scale: Float32,
    u: NDArray[Any],
    v: NDArray[Any],
) -> NDArray[Any]:
    """Fold a factored tape, decay [B,T,H] or [B,T,H,Ds], onto a state."""
    s = state.astype(np.float32)
    u, v = u.astype(np.float32), v.astype(np.float32)
    v = np.repeat(v, u.shape[2] // max(v.shape[2], 1), axis=2)
    if decay.ndim == 3:
        decay = decay[..., None]
    with np.errstate(all="ignore"):
        for t in range(u.shape[1]):
            factor, by = decay[:, t, :, None, :], scale[:, t, :, None]
            added = (u[:, t] * by)[..., None] * v[:, t, :, None, :]
            live = (by != 0)[..., None]
            s = np.where(live, fma(factor, s, added), factor * s)
    return store(s, state.dtype)


def fold_dense(state: NDArray[Any], da_log: Float32, dbx_log: NDArray[Any]) -> NDArray[Any]:
    """Fold a dense tape onto a state: da_log [B,T,H,Ds], dbx_log [B,T,H,Dh,Ds]."""
    s = state.astype(np.float32)
    for t in range(da_log.shape[1]):
        s = fma(da_log[:, t, :, None, :], s, dbx_log[:, t].astype(np.float32))
    return store(s, state.dtype)


def invert(strict: Float32, dtype: Any) -> NDArray[Any]:
    """Invert chunks [..., n, n]: forward substitution, even and odd terms in two chains."""
    rows = strict.shape[-1]
    inverse = np.zeros(strict.shape, np.float32)
    for i in range(rows):
        chains = [np.zeros((*strict.shape[:-2], i), np.float32) for _ in range(2)]
        for k in range(i):
            factor = -strict[..., i, k, None]
            term = chains[k % 2][..., : k + 1]
            term[...] = fma(factor, inverse[..., k, : k + 1], term)
        inverse[..., i, :i] = chains[0] + chains[1]
        inverse[..., i, i] = 1
    return store(inverse, dtype)
