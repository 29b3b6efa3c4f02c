"""What a verify pass leaves behind, so that a state can be taken to any step of it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, fields
from operator import index
from typing import Any, Literal, TypeVar

import numpy as np
import numpy.typing as npt

from deltatape._arrays import Array, Operation

_CONCATENATE = Operation("concatenate")
_TAPE_NBYTES = Operation("tape_nbytes")

_Tape = TypeVar("_Tape", "FactoredTape", "DenseTape")


@dataclass(frozen=True, eq=False)
class FactoredTape:
    """Updates of rank one: ``S <- decay * S + (scale * u) outer v`` for each step.

    The arrays are referred to, not copied: changing one before the replay changes the result.
    `ssm_step_record` writes decay and scale and refers to its x and b. An engine may build a tape
    itself: the gated delta net's [2]_ is decay = exp(g), u = the corrected value, v = k and a state
    [H,Dv,Dk].

    Parameters
    ----------
    decay
        [B,T,H] float32, or [B,T,H,Ds] for a decay of each column, as in Kimi Delta Attention and
        gated linear attention [3]_.
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
    .. [3] Yang, Wang, Shen, Panda, Kim: Gated Linear Attention, 2023, arXiv:2312.06635.
    """

    decay: Array
    scale: Array | None
    u: Array
    v: Array

    @property
    def steps(self) -> int:
        """Entries on the tape, masked ones too."""
        return int(np.shape(self.decay)[1])

    @property
    def nbytes(self) -> int:
        """Bytes that the tape keeps alive: its own decay and scale, and the caller's u and v."""
        return _nbytes(self)

    @staticmethod
    def concatenate(tapes: Sequence[FactoredTape]) -> FactoredTape:
        """Return one tape of the steps of several, in their order. Copies u and v.

        Raises
        ------
        InvalidArgument
            There is no tape, or the shapes do not fit together.
        UnsupportedDType
            The element types differ.
        """
        if any(tape.scale is not None for tape in tapes):
            tapes = [_with_scale(tape) for tape in tapes]
        return _concatenate(FactoredTape, tapes)


@dataclass(frozen=True, eq=False)
class DenseTape:
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

    @property
    def steps(self) -> int:
        """Entries on the tape, masked ones too."""
        return int(np.shape(self.da_log)[1])

    @property
    def nbytes(self) -> int:
        """Bytes that the tape keeps alive."""
        return _nbytes(self)

    @staticmethod
    def concatenate(tapes: Sequence[DenseTape]) -> DenseTape:
        """Return one tape of the steps of several, in their order.

        Raises
        ------
        InvalidArgument
            There is no tape, or the shapes do not fit together.
        UnsupportedDType
            The element types differ.
        """
        return _concatenate(DenseTape, tapes)


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


def _arrays(tape: Any) -> list[Array]:
    present = (getattr(tape, field.name) for field in fields(tape))
    return [np.asarray(array) for array in present if array is not None]


def _nbytes(tape: Any) -> int:
    return sum(array.nbytes for array in _arrays(tape))


def _with_scale(tape: FactoredTape) -> FactoredTape:
    if tape.scale is not None:
        return tape
    ones = np.ones(np.shape(tape.decay)[:3], np.float32)
    return FactoredTape(tape.decay, ones, tape.u, tape.v)


def _concatenate(kind: type[_Tape], tapes: Sequence[_Tape]) -> _Tape:
    if not tapes:
        _CONCATENATE.refuse("tapes", "at least one tape", "none")
    joined: dict[str, Any] = {}
    for field in fields(tapes[0]):
        arrays = [getattr(tape, field.name) for tape in tapes]
        joined[field.name] = None if arrays[0] is None else _join(field.name, arrays)
    return kind(**joined)


def _join(name: str, values: list[Any]) -> Array:
    arrays = [np.asarray(value) for value in values]
    first = arrays[0]
    for other in arrays[1:]:
        if other.dtype != first.dtype:
            _CONCATENATE.refuse_dtype(name, str(first.dtype), other.dtype)
        if other.ndim != first.ndim or _without_steps(other) != _without_steps(first):
            _CONCATENATE.refuse(name, f"shape {first.shape} but for T", other.shape)
    return np.concatenate(arrays, axis=1)


def _without_steps(array: Array) -> tuple[int, ...]:
    return array.shape[:1] + array.shape[2:]
