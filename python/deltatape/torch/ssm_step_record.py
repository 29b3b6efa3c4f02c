"""Steps of a selective state-space layer, on tensors."""

from __future__ import annotations

from typing import Any, Literal

import torch

from deltatape._arrays import Operation
from deltatape._devices import Stream
from deltatape.kernels import ssm_step_record as arrays
from deltatape.tapes import DenseTape, FactoredTape
from deltatape.torch._streams import call_on
from deltatape.torch._tensors import Tensors, host

_OPERATION = Operation("ssm_step_record")


def ssm_step_record(
    x: torch.Tensor,
    a_log: torch.Tensor,
    b: torch.Tensor,
    c: torch.Tensor,
    d: torch.Tensor | None,
    dt: torch.Tensor,
    state: torch.Tensor | None,
    mask: torch.Tensor | None = None,
    *,
    tape: Literal["factored", "dense"] | None = "factored",
    advance: bool = True,
    slots: Any = None,
    has_initial: Any = None,
    out: Any = None,
    stream: Stream | None = None,
) -> tuple[torch.Tensor, Any, Any]:
    """Run T steps of a Mamba-2 layer and record a tape for `ssm_replay`.

    As `deltatape.ssm_step_record`, on tensors.

    Parameters
    ----------
    x, a_log, b, c, d, dt, state, mask, tape, advance, slots, has_initial, out, stream
        As there.

    Returns
    -------
    y : torch.Tensor
        [B,T,H,Dh] of the activation type, on the device of `x`.
    state : torch.Tensor or None
        The state after T steps; with slots the pool.
    tape : FactoredTape or DenseTape or None
        The record, of tensors.
    """
    tensors, work = call_on(_OPERATION, "x", x, stream)
    given = {"x": x, "a_log": a_log, "b": b, "c": c, "d": d, "dt": dt}
    inputs = {name: tensors.input(name, each) for name, each in given.items()}
    y, new_state, kept = arrays.ssm_step_record(
        **inputs,
        state=tensors.states("state", state, written=advance and _in_place(state, slots, out)),
        mask=tensors.mask("mask", mask),
        tape=tape,
        advance=advance,
        slots=host(slots),
        has_initial=host(has_initial),
        out=_described(tensors, out),
        stream=work,
    )
    return tensors.tensor(y), tensors.tensor(new_state), _recorded(tensors, kept)


def _in_place(state: Any, slots: Any, out: Any) -> bool:
    return slots is not None or (isinstance(out, tuple) and len(out) > 1 and out[1] is state)


def _described(tensors: Tensors, out: Any, names: tuple[str, ...] = ("y", "state_out")) -> Any:
    """Return `out` with arrays for its tensors; what is no tensor is left to be judged."""
    if isinstance(out, torch.Tensor):
        return tensors.described(names[0], out)
    if not isinstance(out, tuple):
        return out
    names = (*names, "tape", *names)
    return tuple(_described(tensors, each, names[i : i + 2]) for i, each in enumerate(out))


def _recorded(tensors: Tensors, tape: Any) -> FactoredTape | DenseTape | None:
    if tape is None:
        return None
    if isinstance(tape, DenseTape):
        return DenseTape(tensors.tensor(tape.da_log), tensors.tensor(tape.dbx_log))
    arrays_of_tape = (tape.decay, tape.scale, tape.u, tape.v)
    return FactoredTape(*map(tensors.tensor, arrays_of_tape))
