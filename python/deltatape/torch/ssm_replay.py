"""The rollback, on tensors."""

from __future__ import annotations

from typing import Any

import torch

from deltatape._arrays import Operation
from deltatape._devices import Stream
from deltatape.kernels import ssm_replay as arrays
from deltatape.tapes import DenseTape, FactoredTape
from deltatape.torch._streams import call_on
from deltatape.torch._tensors import Tensors, host

_OPERATION = Operation("ssm_replay")


def ssm_replay(
    state: torch.Tensor,
    tape: FactoredTape | DenseTape,
    k: Any,
    *,
    mask: torch.Tensor | None = None,
    slots: Any = None,
    out: torch.Tensor | None = None,
    stream: Stream | None = None,
) -> torch.Tensor:
    """Return the state after the first k entries of a tape.

    As `deltatape.ssm_replay`, on tensors.

    Parameters
    ----------
    state, tape, k, mask, slots, out, stream
        As there; the tape holds tensors.

    Returns
    -------
    torch.Tensor
        `out`, or with slots the pool, or a new [B,H,Dh,Ds] on the device of `state`.
    """
    tensors, work = call_on(_OPERATION, "state", state, stream)
    in_place = out is state or slots is not None
    rolled = arrays.ssm_replay(
        tensors.states("state", state, written=in_place),
        _described(tensors, tape),
        host(k),
        mask=tensors.mask("mask", mask),
        slots=host(slots),
        out=None if out is None else tensors.described("state_out", out),
        stream=work,
    )
    result: torch.Tensor = tensors.tensor(rolled)
    return result


def _described(tensors: Tensors, tape: Any) -> Any:
    if not isinstance(tape, FactoredTape | DenseTape):
        return tape
    return type(tape)(*(tensors.input(name, each) for name, each in vars(tape).items()))
