"""The inverse of each chunk's unit lower triangular matrix."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from deltatape._arrays import FLOATS, Array, Operation
from deltatape._defaults import stream_or_default
from deltatape._devices import Stream
from deltatape._native import Fields, Kernel
from deltatape.kernels._results import result

_OPERATION = Operation("chunk_tri_solve_invert")
_KERNEL = Kernel("chunk_tri_solve_invert")
_SYMBOLS = "[B,T,H,BT]"


def chunk_tri_solve_invert(
    a: npt.ArrayLike,
    *,
    cu_seqlens: npt.ArrayLike | None = None,
    dtype: npt.DTypeLike | None = None,
    out: Array | None = None,
    stream: Stream | None = None,
) -> Array:
    """Return ``(I + strictly_lower(a))^-1`` for each chunk of BT rows and each head.

    The heart of the chunked gated delta rule [1]_. By forward substitution in float32, whatever the
    element types. Rows are times within the chunk, columns the last axis; only elements below the
    diagonal are read. The result's diagonal is exactly 1 and what lies above it exactly 0. The last
    chunk of a sequence has the rows that are left; its columns beyond them are 0.

    Parameters
    ----------
    a
        [B,T,H,BT] float32, float16 or bfloat16, BT in {16, 32, 64}.
    cu_seqlens
        Integers: where each sequence begins, and T at the end. Starts at 0 and never falls;
        requires B = 1. Chunks restart at each sequence. None is one sequence for each b.
    dtype
        The result's type, float32, float16 or bfloat16; None is `out`'s, else float32. Values too
        large for a 16-bit type become inf.
    out
        [B,T,H,BT], where the result goes; may be `a` itself if the types are of the same size.
    stream
        Where to enqueue the work; None runs it on the default device and returns when it is done.

    Returns
    -------
    ndarray
        `out`, or a new [B,T,H,BT].

    Raises
    ------
    InvalidArgument
        A shape does not fit, BT is another, cu_seqlens is malformed, or `out` cannot be written as
        it is or overlaps `a` in part.
    UnsupportedDType
        An element type is not one of those above, or `dtype` is not `out`'s.

    Notes
    -----
    Strided, byte-swapped and unaligned inputs are copied once.

    References
    ----------
    .. [1] Yang, Kautz, Hatamizadeh: Gated Delta Networks, 2024, arXiv:2412.06464.

    Examples
    --------
    >>> import numpy as np, deltatape
    >>> ones = np.ones((1, 16, 1, 16), np.float32)
    >>> deltatape.chunk_tri_solve_invert(ones)[0, 2, 0, :4].tolist()
    [0.0, -1.0, 1.0, 0.0]
    """
    work = stream_or_default(stream)
    array = _OPERATION.input("a", a)
    B, T, H, BT = shape = _OPERATION.sizes("a", array, _SYMBOLS)
    fields: Fields = {"batch": B, "steps": T, "heads": H, "chunk": BT, "a": array}
    if cu_seqlens is not None:
        bounds = _OPERATION.indices("cu_seqlens", cu_seqlens)
        _OPERATION.sizes("cu_seqlens", bounds, "[sequences + 1]")
        fields.update(cu_seqlens=bounds, cu_seqlens_count=bounds.size)
    result_dtypes = FLOATS if dtype is None else (_element(dtype),)
    fields["a_inv"] = result(_OPERATION, work, "a_inv", out, _SYMBOLS, shape, result_dtypes)
    work._run(_KERNEL, fields)
    inverse: Array = fields["a_inv"]
    return inverse


def _element(dtype: npt.DTypeLike) -> np.dtype[Any]:
    element = np.dtype(dtype)
    if element not in FLOATS:
        _OPERATION.refuse_dtype("dtype", " or ".join(map(str, FLOATS)), element)
    return element
