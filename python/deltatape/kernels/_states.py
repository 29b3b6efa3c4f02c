"""The state of a call, which the step and the replay take and give back in the same ways."""

from __future__ import annotations

from typing import Any

import numpy as np

from deltatape._arrays import Operation, Shape
from deltatape._devices import Stream
from deltatape._native import Fields


def state_fields(
    operation: Operation,
    stream: Stream,
    shape: Shape,
    state: Any,
    *,
    out: Any,
    slots: Any,
    writes: bool = True,
) -> Fields:
    """Return the fields of the argument struct that concern the state.

    Parameters
    ----------
    shape
        (B, H, Dh, Ds).
    state
        The states or the pool; None is zeros.
    out
        Where the new states go; None allocates them, or with slots updates the pool.
    slots
        [B], which makes state a pool.
    writes
        False leaves the states as they are.
    """
    fields: Fields = {}
    symbols, sizes = "[B,H,Dh,Ds]", shape
    if slots is not None:
        fields["slots"] = operation.indices("slots", slots)
        operation.shaped("slots", fields["slots"], "[B]", shape[:1])
        if state is None:
            operation.refuse("state", "a pool with slots", None)
        symbols, sizes = "[N,H,Dh,Ds]", (*np.shape(state)[:1], *shape[1:])
        out = state if out is None else out
    if state is not None:
        in_place = writes and out is state
        read = operation.states_output if in_place else operation.states
        array, stride = read("state", state)
        operation.shaped("state", array, symbols, sizes)
        fields.update(state=array, state_stride=stride, states=sizes[0])
    if writes and out is None:
        dtype = np.dtype(np.float32) if state is None else fields["state"].dtype
        fields["state_out"] = stream._empty(shape, dtype)
    elif writes:
        array, stride = operation.states_output("state_out", out)
        operation.shaped("state_out", array, symbols, sizes)
        fields.update(state_out=array, state_out_stride=stride)
    return fields
