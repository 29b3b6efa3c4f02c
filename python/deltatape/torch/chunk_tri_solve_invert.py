"""The inverse of each chunk's unit lower triangular matrix, on tensors."""

from __future__ import annotations

from typing import Any

import torch

from deltatape._arrays import Operation
from deltatape._devices import Stream
from deltatape.kernels import chunk_tri_solve_invert as arrays
from deltatape.torch._streams import call_on
from deltatape.torch._tensors import host, numpy_dtype

_OPERATION = Operation("chunk_tri_solve_invert")


def chunk_tri_solve_invert(
    a: torch.Tensor,
    *,
    cu_seqlens: Any = None,
    dtype: torch.dtype | None = None,
    out: torch.Tensor | None = None,
    stream: Stream | None = None,
) -> torch.Tensor:
    """Return ``(I + strictly_lower(a))^-1`` for each chunk of BT rows and each head.

    As `deltatape.chunk_tri_solve_invert`, on tensors.

    Parameters
    ----------
    a, cu_seqlens, dtype, out, stream
        As there; `dtype` is torch's.

    Returns
    -------
    torch.Tensor
        `out`, or a new [B,T,H,BT] on the device of `a`.
    """
    tensors, work = call_on(_OPERATION, "a", a, stream)
    inverse = arrays.chunk_tri_solve_invert(
        tensors.described("a", a) if out is a else tensors.input("a", a),
        cu_seqlens=host(cu_seqlens),
        dtype=None if dtype is None else numpy_dtype(_OPERATION, "dtype", dtype),
        out=None if out is None else tensors.described("a_inv", out),
        stream=work,
    )
    result: torch.Tensor = tensors.tensor(inverse)
    return result
