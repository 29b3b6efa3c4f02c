"""Steps of a selective state-space layer, with a record of their updates."""

from __future__ import annotations

from functools import partial
from typing import Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from deltatape._arrays import F32, Array, Operation, Shape
from deltatape._defaults import stream_or_default
from deltatape._devices import Stream
from deltatape._native import Fields, Kernel, lib
from deltatape.kernels._results import result
from deltatape.kernels._states import state_fields
from deltatape.tapes import DenseTape, FactoredTape

_OPERATION = Operation("ssm_step_record")
_KERNEL = Kernel("ssm_step_record")

TapeArrays: TypeAlias = tuple[Array | None, Array | None]
_NEW: TapeArrays = (None, None)


def ssm_step_record(
    x: npt.ArrayLike,
    a_log: npt.ArrayLike,
    b: npt.ArrayLike,
    c: npt.ArrayLike,
    d: npt.ArrayLike | None,
    dt: npt.ArrayLike,
    state: npt.ArrayLike | None,
    mask: npt.ArrayLike | None = None,
    *,
    tape: Literal["factored", "dense"] | None = "factored",
    advance: bool = True,
    slots: npt.ArrayLike | None = None,
    has_initial: npt.ArrayLike | None = None,
    out: tuple[Array | None, Array | None]
    | tuple[Array | None, Array | None, TapeArrays | None]
    | None = None,
    stream: Stream | None = None,
) -> tuple[Array, Any, Any]:
    """Run T steps of a Mamba-2 layer [1]_ and record a tape for `ssm_replay`.

    For each sequence, head h, row p, column s, with g = h // (H/G), for t in order::

        decay, scale = exp(-exp(a_log[h]) * dt), dt      (1, 0) where masked or dt == 0
        S = decay * S + (x * scale) * b                  scale == 0: S = decay * S, x, b not read
        y = sum over s of S * c + d[h] * x               at masked steps too, from the unchanged S

    Arithmetic is float32 whatever the element types; decay and scale are always float32, since a
    16-bit decay is wrong (exp(-0.001) rounds to 1).

    Parameters
    ----------
    x
        [B,T,H,Dh] float32, float16 or bfloat16: the activation type.
    a_log
        [H] float32 or the activation type: the logarithm of the decay rate.
    b, c
        [B,T,G,Ds] of the activation type; G divides H.
    d
        [H] float32 or the activation type; None leaves d * x out of y.
    dt
        [B,T,H] float32 or the activation type: step sizes, softplus already applied.
    state
        [B,H,Dh,Ds], or with slots a pool [N,H,Dh,Ds], float32, float16 or bfloat16, independent of
        the activation type. None is zeros (without slots).
    mask
        [B,T] bool or integers, zero = a step that changes neither state nor tape.
    tape
        ``"factored"`` records decay and scale and refers to x and b; ``"dense"`` records whole
        updates, as large as a state a step; None records nothing.
    advance
        False leaves the state as it was and returns None for it: the verify pass of speculative
        decoding, after which the replay writes it.
    slots
        [B] integers: sequence b has the state ``state[slots[b]]``; -1 skips it (state untouched, y
        zero, tape entries that change nothing). The pool is updated in place.
    has_initial
        [B] bool or integers; zero = this sequence starts from zeros, and its state is not read.
    out
        ``(y, state)`` or ``(y, state, tape)``: where the results go; each may be None. State may be
        the argument `state` itself. Tape is the two arrays that the kind records: (decay, scale),
        or (da_log, dbx_log), of which dbx_log may be 16-bit.
    stream
        Where to enqueue the work; None runs it on the default device and returns when it is done.

    Returns
    -------
    y : ndarray
        [B,T,H,Dh] of the activation type.
    state : ndarray or None
        The state after T steps, of state's type (float32 if there was none); with slots the pool.
    tape : FactoredTape or DenseTape or None
        The record. A factored one holds x and b: changing them before the replay changes what
        that gives.

    Raises
    ------
    InvalidArgument
        A shape does not fit, G does not divide H, slots repeat or are out of range, an unknown kind
        of tape, or an output cannot be written as it is or overlaps another argument.
    UnsupportedDType
        An element type is not one of those above. Nothing is cast silently.

    Notes
    -----
    Strided, byte-swapped and unaligned inputs are copied once. A pool whose states are each
    contiguous but lie apart is used in place; with other strides it is refused where it would be
    written.

    For float32 states, recording T steps at once or in any split gives the same bytes.

    References
    ----------
    .. [1] Dao, Gu: Transformers are SSMs, 2024, arXiv:2405.21060.

    Examples
    --------
    >>> import numpy as np, deltatape
    >>> x = np.ones((1, 3, 1, 1), np.float32)
    >>> a_log, dt = np.zeros(1, np.float32), np.full((1, 3, 1), np.log(2), np.float32)
    >>> y, state, tape = deltatape.ssm_step_record(x, a_log, x, x, None, dt, None)
    >>> (state / np.log(2)).round(5).item(), tape.steps
    (1.75, 3)
    """
    work = stream_or_default(stream)
    y_out, state_out, tape_out = _outputs(out, tape, advance)
    fields, shape = _input_fields(x, a_log, b, c, d, dt)
    B, T, H, Dh, Ds = shape
    if mask is not None:
        fields["mask"] = _OPERATION.mask("mask", mask, "[B,T]", (B, T))
    if has_initial is not None:
        fields["has_initial"] = _OPERATION.flags("has_initial", has_initial, "[B]", (B,))
    pool = {"out": state_out, "slots": slots, "writes": advance}
    fields.update(state_fields(_OPERATION, work, (B, H, Dh, Ds), state, **pool))
    activation = (fields["x"].dtype,)
    fields["y"] = result(_OPERATION, work, "y", y_out, "[B,T,H,Dh]", (B, T, H, Dh), activation)
    fields.update(_tape_fields(work, tape, tape_out, shape))
    work._run(_KERNEL, fields)
    return fields["y"], fields.get("state_out"), _recorded(tape, fields, x, b)


def _outputs(out: Any, tape: Any, advance: bool) -> tuple[Any, Any, Any]:
    """Return where y, the state and the tape's two arrays go; None is a new array."""
    if out is None:
        return None, None, _NEW
    if not isinstance(out, tuple) or len(out) not in (2, 3):
        _OPERATION.refuse("out", "(y, state) or (y, state, tape)", _described(out))
    y, state, arrays = out if len(out) == 3 else (*out, None)
    if state is not None and not advance:
        _OPERATION.refuse("out", "(y, None) with advance=False", "a state")
    if arrays is None:
        return y, state, _NEW
    if tape is None or not isinstance(arrays, tuple) or len(arrays) != 2:
        expected = "no third element without a tape" if tape is None else "two arrays of the tape"
        _OPERATION.refuse("out", expected, _described(arrays))
    return y, state, arrays


def _described(value: object) -> str:
    length = f" of {len(value)}" if isinstance(value, tuple) else ""
    return type(value).__name__ + length


def _input_fields(x: Any, a_log: Any, b: Any, c: Any, d: Any, dt: Any) -> tuple[Fields, Shape]:
    """Return the fields of the inputs but the state, and (B, T, H, Dh, Ds)."""
    arrays = {"x": x, "a_log": a_log, "b": b, "c": c, "d": d, "dt": dt}
    fields: Fields = {
        name: _OPERATION.input(name, array)
        for name, array in arrays.items()
        if name != "d" or d is not None
    }
    B, T, H, Dh = _OPERATION.sizes("x", fields["x"], "[B,T,H,Dh]")
    G, Ds = _OPERATION.sizes("b", fields["b"], "[B,T,G,Ds]")[2:]
    _OPERATION.shaped("a_log", fields["a_log"], "[H]", (H,))
    _OPERATION.shaped("b", fields["b"], "[B,T,G,Ds]", (B, T, G, Ds))
    _OPERATION.shaped("c", fields["c"], "[B,T,G,Ds]", (B, T, G, Ds))
    _OPERATION.shaped("dt", fields["dt"], "[B,T,H]", (B, T, H))
    if d is not None:
        _OPERATION.shaped("d", fields["d"], "[H]", (H,))
    fields.update(batch=B, steps=T, heads=H, groups=G, head_dim=Dh, state_dim=Ds)
    return fields, (B, T, H, Dh, Ds)


def _tape_fields(work: Stream, tape: Any, arrays: TapeArrays, shape: Shape) -> Fields:
    B, T, H, Dh, Ds = shape
    if tape is None:
        return {"tape": lib.DTAPE_TAPE_NONE}
    new = partial(result, _OPERATION, work)
    if tape == "factored":
        if arrays is _NEW:  # both in one piece of memory
            decay, scale = work._empty((2, B, T, H), F32[0])
        else:
            decay = new("decay", arrays[0], "[B,T,H]", (B, T, H), F32)
            scale = new("scale", arrays[1], "[B,T,H]", (B, T, H), F32)
        return {"tape": lib.DTAPE_TAPE_FACTORED, "decay": decay, "scale": scale}
    if tape == "dense":
        return {
            "tape": lib.DTAPE_TAPE_DENSE,
            "da_log": new("da_log", arrays[0], "[B,T,H,Ds]", (B, T, H, Ds), F32),
            "dbx_log": new("dbx_log", arrays[1], "[B,T,H,Dh,Ds]", (B, T, H, Dh, Ds)),
        }
    _OPERATION.refuse("tape", "'factored', 'dense' or None", repr(tape))


def _recorded(tape: Any, fields: Fields, x: Any, b: Any) -> FactoredTape | DenseTape | None:
    if tape is None:
        return None
    if tape == "dense":
        return DenseTape(fields["da_log"], fields["dbx_log"])
    # The caller's own arrays, not the copies that strided ones were given.
    return FactoredTape(fields["decay"], fields["scale"], np.asarray(x), np.asarray(b))
