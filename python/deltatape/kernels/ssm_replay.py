"""The rollback: the first entries of a tape folded onto a state."""

from __future__ import annotations

import numpy.typing as npt

from deltatape._arrays import F32, Array, Operation, Shape
from deltatape._defaults import stream_or_default
from deltatape._devices import Stream
from deltatape._native import Fields, Kernel, lib
from deltatape.kernels._states import state_fields
from deltatape.tapes import DenseTape, FactoredTape

_OPERATION = Operation("ssm_replay")
_KERNEL = Kernel("ssm_replay")


def ssm_replay(
    state: npt.ArrayLike,
    tape: FactoredTape | DenseTape,
    k: npt.ArrayLike,
    *,
    mask: npt.ArrayLike | None = None,
    slots: npt.ArrayLike | None = None,
    out: Array | None = None,
    stream: Stream | None = None,
) -> Array:
    """Return the state after the first k entries of a tape.

    For each sequence b, head h, row p, column s, with g = h // (H/G), for t in 0 .. k[b]-1::

        factored    S = decay[t] * S + (scale[t] * u[t,p]) * v[t,s]     scale == 0: S = decay[t] * S
        dense       S = da_log[t,s] * S + dbx_log[t,p,s]

    Entries at and beyond k, and masked ones, are never read. k = 0 returns the state bit for bit.
    Arithmetic is float32 whatever the element types.

    Parameters
    ----------
    state
        [B,H,Dh,Ds], or with slots a pool [N,H,Dh,Ds], float32, float16 or bfloat16: the state from
        before the recording.
    tape
        The record of T steps. A `FactoredTape` may have a decay for each column.
    k
        Entries to keep, an integer or [B], 0 <= k <= T: accepted drafts plus one. Masked entries
        count.
    mask
        [B,T] bool or integers, zero = skip this entry. The tape of a masked recording needs none:
        its masked entries change nothing. An entry counts if both have it active.
    slots
        [B] integers: sequence b has the state ``state[slots[b]]``; -1 skips it. The pool is updated
        in place.
    out
        Where the new state goes, of state's shape and type; may be `state` itself. None allocates
        it, or with slots is the pool.
    stream
        Where to enqueue the work; None runs it on the default device and returns when it is done.

    Returns
    -------
    ndarray
        `out`, or with slots the pool, or a new [B,H,Dh,Ds] of state's type.

    Raises
    ------
    InvalidArgument
        A shape does not fit, k is out of range, slots repeat or are out of range, or `out` cannot
        be written as it is or overlaps another argument in part.
    UnsupportedDType
        An element type is not one of those above. Nothing is cast silently.

    Notes
    -----
    Strided, byte-swapped and unaligned inputs are copied once. A pool whose states are each
    contiguous but lie apart is used in place; with other strides it is refused where it would be
    written.

    Replaying the whole tape of a recording gives the bytes of the state that the recording gave,
    for float32 states.

    Examples
    --------
    >>> import numpy as np, deltatape
    >>> decay = np.full((1, 3, 1), 0.5, np.float32)
    >>> ones = np.ones((1, 3, 1, 1), np.float32)
    >>> tape = deltatape.FactoredTape(decay, None, ones, ones)
    >>> deltatape.ssm_replay(np.zeros((1, 1, 1, 1), np.float32), tape, 2).item()
    1.5
    """
    work = stream_or_default(stream)
    if state is None:
        _OPERATION.refuse("state", "an array", None)
    fields, (B, T, H, Dh, Ds) = _tape_fields(tape)
    fields.update(state_fields(_OPERATION, work, (B, H, Dh, Ds), state, out=out, slots=slots))
    fields["k"] = _OPERATION.per_sequence("k", k, B)
    if mask is not None:
        fields["mask"] = _OPERATION.mask("mask", mask, "[B,T]", (B, T))
    work._run(_KERNEL, fields)
    result: Array = fields["state_out"]
    return result


def _tape_fields(tape: FactoredTape | DenseTape) -> tuple[Fields, Shape]:
    """Return the argument struct's fields that come from the tape, and (B, T, H, Dh, Ds)."""
    if isinstance(tape, FactoredTape):
        return _factored_fields(tape)
    if isinstance(tape, DenseTape):
        return _dense_fields(tape)
    got = type(tape).__name__
    _OPERATION.refuse("tape", "a deltatape.FactoredTape or a deltatape.DenseTape", got)


def _factored_fields(tape: FactoredTape) -> tuple[Fields, Shape]:
    u = _OPERATION.input("u", tape.u)
    v = _OPERATION.input("v", tape.v)
    decay = _OPERATION.input("decay", tape.decay, F32)
    B, T, H, Dh = _OPERATION.sizes("u", u, "[B,T,H,Dh]")
    G, Ds = _OPERATION.sizes("v", v, "[B,T,G,Ds]")[2:]
    _OPERATION.shaped("v", v, "[B,T,G,Ds]", (B, T, G, Ds))
    columns = decay.ndim == 4
    if columns:
        _OPERATION.shaped("decay", decay, "[B,T,H,Ds]", (B, T, H, Ds))
    else:
        _OPERATION.shaped("decay", decay, "[B,T,H]", (B, T, H))
    fields: Fields = {
        "batch": B,
        "steps": T,
        "heads": H,
        "groups": G,
        "head_dim": Dh,
        "state_dim": Ds,
        "tape": lib.DTAPE_TAPE_COLUMNS if columns else lib.DTAPE_TAPE_FACTORED,
        "decay": decay,
        "u": u,
        "v": v,
    }
    if tape.scale is not None:
        fields["scale"] = _OPERATION.input("scale", tape.scale, F32)
        _OPERATION.shaped("scale", fields["scale"], "[B,T,H]", (B, T, H))
    return fields, (B, T, H, Dh, Ds)


def _dense_fields(tape: DenseTape) -> tuple[Fields, Shape]:
    da_log = _OPERATION.input("da_log", tape.da_log, F32)
    dbx_log = _OPERATION.input("dbx_log", tape.dbx_log)
    B, T, H, Dh, Ds = _OPERATION.sizes("dbx_log", dbx_log, "[B,T,H,Dh,Ds]")
    _OPERATION.shaped("da_log", da_log, "[B,T,H,Ds]", (B, T, H, Ds))
    fields: Fields = {
        "batch": B,
        "steps": T,
        "heads": H,
        "groups": 1,
        "head_dim": Dh,
        "state_dim": Ds,
        "tape": lib.DTAPE_TAPE_DENSE,
        "da_log": da_log,
        "dbx_log": dbx_log,
    }
    return fields, (B, T, H, Dh, Ds)
