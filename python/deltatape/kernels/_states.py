"""The state of a call, which the step and the replay take and give back in the same ways."""

from __future__ import annotations

from typing import Any

import numpy as np

from deltatape._arrays import Array, Operation, Shape
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
    batch, *tail = shape
    fields: Fields = {}
    if slots is not None:
        fields["slots"] = operation.indices("slots", slots)
        operation.shaped("slots", fields["slots"], "[B]", (batch,))
        out = state if out is None else out
    if state is not None:
        if writes and out is state:
            array, stride = operation.states_output("state", state)
        else:
            array, stride = operation.states("state", state)
        symbols = "[B,H,Dh,Ds]" if slots is None else "[N,H,Dh,Ds]"
        count = operation.sizes("state", array, symbols)[0] if slots is not None else batch
        operation.shaped("state", array, symbols, (count, *tail))
        fields.update(state=array, state_stride=stride, states=count)
    if writes:
        fields.update(_output_fields(operation, stream, shape, fields, out))
    return fields


def _output_fields(
    operation: Operation, stream: Stream, shape: Shape, fields: Fields, out: Any
) -> Fields:
    state: Array | None = fields.get("state")
    if out is None:
        dtype = np.dtype(np.float32) if state is None else state.dtype
        return {"state_out": stream._empty(shape, dtype)}
    array, stride = operation.states_output("state_out", out)
    if "slots" in fields:
        count = fields.get("states", shape[0])
        operation.shaped("state_out", array, "[N,H,Dh,Ds]", (count, *shape[1:]))
    else:
        operation.shaped("state_out", array, "[B,H,Dh,Ds]", shape)
    return {"state_out": array, "state_out_stride": stride}
