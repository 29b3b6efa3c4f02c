"""What a verify pass leaves behind, so that a state can be taken to any step of it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, fields
from operator import index
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import numpy.typing as npt

from deltatape._arrays import Array, Operation

if TYPE_CHECKING:
    from typing_extensions import Self

_CONCATENATE = Operation("concatenate")
_TAPE_NBYTES = Operation("tape_nbytes")


class _Tape:
    """What both kinds share. Their fields are arrays [B,T,...], some of them perhaps None."""

    @property
    def steps(self) -> int:
        """Entries on the tape, masked ones too."""
        return int(_arrays(self)[0].shape[1])

    @property
    def nbytes(self) -> int:
        """Bytes that the tape keeps alive, the caller's own arrays too."""
        return sum(array.nbytes for array in _arrays(self))

    @classmethod
    def concatenate(cls, tapes: Sequence[Self]) -> Self:
        """Return one tape of the steps of several, in their order. The arrays are copied.

        Parameters
        ----------
        tapes
            At least one, of this kind.

        Raises
        ------
        InvalidArgument
            There is no tape, or the shapes do not fit together.
        UnsupportedDType
            The element types differ.
        """
        if not tapes:
            _CONCATENATE.refuse("tapes", "at least one tape", "none")
        return cls(*(_join(name, tapes) for name in _names(cls)))


@dataclass(frozen=True, eq=False)
class FactoredTape(_Tape):
    """Updates of rank one: ``S <- decay * S + (scale * u) outer v`` for each step.

    The arrays are referred to, not copied: changing one before the replay changes the result.
    `ssm_step_record` writes decay and scale and refers to its x and b [1]_. An engine may build a
    tape itself: the gated delta net's [2]_ is decay = exp(g), u = the corrected value, v = k and a
    state [H,Dv,Dk].

    Parameters
    ----------
    decay
        [B,T,H] float32, or [B,T,H,Ds] for a decay of each column, as in gated linear attention [3]_
        and Kimi Delta Attention [4]_.
    scale
        [B,T,H] float32; None is 1 everywhere. Where it is 0, u and v are not read.
    u
        [B,T,H,Dh] float32, float16 or bfloat16.
    v
        [B,T,G,Ds] float32, float16 or bfloat16; head h uses group h // (H/G).

    References
    ----------
    .. [1] Dao, Gu: Transformers are SSMs, 2024, arXiv:2405.21060 (Mamba-2).
    .. [2] Yang, Kautz, Hatamizadeh: Gated Delta Networks, 2024, arXiv:2412.06464.
    .. [3] Yang et al.: Gated Linear Attention Transformers, 2023, arXiv:2312.06635.
    .. [4] Kimi Team: Kimi Linear, 2025, arXiv:2510.26692.
    """

    decay: Array
    scale: Array | None
    u: Array
    v: Array


@dataclass(frozen=True, eq=False)
class DenseTape(_Tape):
    """Whole updates: ``S <- da_log * S + dbx_log`` for each step.

    As large as a state for each step. It is here for systems that have this layout already.

    Parameters
    ----------
    da_log
        [B,T,H,Ds] float32: the decay of each column.
    dbx_log
        [B,T,H,Dh,Ds] float32, float16 or bfloat16: (x * scale) * b. Of the 16-bit types, float16
        saturates at 65504 and both round.
    """

    da_log: Array
    dbx_log: Array


def tape_nbytes(
    tape: Literal["factored", "dense"],
    batch: int,
    steps: int,
    heads: int,
    head_dim: int,
    state_dim: int,
    dtype: npt.DTypeLike = np.float32,
) -> int:
    """Return the bytes that `ssm_step_record` allocates for a tape.

    Parameters
    ----------
    tape
        ``"factored"``: decay and scale; x and b are the caller's. ``"dense"``: da_log and dbx_log.
    batch, steps, heads, head_dim, state_dim
        B, T, H, Dh and Ds.
    dtype
        The element type of dbx_log; the rest is float32.

    Returns
    -------
    int
        Bytes.

    Raises
    ------
    InvalidArgument
        An unknown kind of tape, or a negative size.

    Examples
    --------
    >>> from deltatape import tape_nbytes
    >>> tape_nbytes("factored", 1, 64, 32, 128, 128), tape_nbytes("dense", 1, 64, 32, 128, 128)
    (16384, 135266304)
    """
    sizes = tuple(map(index, (batch, steps, heads, head_dim, state_dim)))
    if min(sizes) < 0:
        _TAPE_NBYTES.refuse("batch ... state_dim", "sizes >= 0", sizes)
    scalars = 4 * math.prod(sizes[:3])
    if tape == "factored":
        return 2 * scalars
    if tape == "dense":
        return scalars * sizes[4] + math.prod(sizes) * np.dtype(dtype).itemsize
    _TAPE_NBYTES.refuse("tape", "'factored' or 'dense'", repr(tape))


def _names(tape: Any) -> list[str]:
    return [field.name for field in fields(tape)]


def _arrays(tape: _Tape) -> list[Array]:
    present = (getattr(tape, name) for name in _names(tape))
    # Tensors are like arrays as far as it matters here, and may lie where numpy does not reach.
    return [
        array if hasattr(array, "nbytes") else np.asarray(array)
        for array in present
        if array is not None
    ]


def _join(name: str, tapes: Sequence[Any]) -> Array | None:
    """Return the arrays of this name as one, if any of the tapes has it."""
    if all(getattr(tape, name) is None for tape in tapes):
        return None
    first, *others = arrays = [_array_or_ones(name, tape) for tape in tapes]
    for other in others:
        if other.dtype != first.dtype:
            _CONCATENATE.refuse_dtype(name, str(first.dtype), other.dtype)
        if other.ndim != first.ndim or _without_steps(other) != _without_steps(first):
            _CONCATENATE.refuse(name, f"shape {first.shape} but for T", other.shape)
    return np.concatenate(arrays, axis=1)


def _array_or_ones(name: str, tape: Any) -> Array:
    value = getattr(tape, name)
    if value is None:
        return np.ones(np.shape(tape.decay)[:3], np.float32)
    return np.asarray(value)


def _without_steps(array: Array) -> tuple[int, ...]:
    return array.shape[:1] + array.shape[2:]
