"""The model's two kinds of recurrent layer: Mamba-2 and the gated delta net."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Literal, NamedTuple

import numpy as np

from deltatape import Device, Session, Stream, conv_window, ssm_step_record

from .arithmetic import Array, causal_conv, linear, rms_norm, sigmoid, silu, softplus, unit_norm
from .gated_delta import Tokens, chunked, stepwise

Pass = Literal["prefill", "advance", "record"]
"""prefill and advance take a session past all tokens, prefill by the form that suits many and
advance by the one that decoding uses; record leaves it where it is, with a tape to judge."""


class Projection(NamedTuple):
    """What a layer makes of its tokens before the recurrence.

    Attributes
    ----------
    inputs
        The convolution's inputs, [1, T, C].
    gate
        What scales the outputs, [1, T, rows of all heads].
    rates
        What sets the pace of each head's state, [1, T, H] or [1, T, 2 H].
    """

    inputs: Array
    gate: Array
    rates: Array


class RecurrentLayer(ABC):
    """A projection, a causal convolution, a recurrence over its channels, and a gated projection.

    Parameters
    ----------
    weights
        The layer's arrays by their names.
    state
        H, rows and columns of the recurrent state.
    """

    def __init__(self, weights: Mapping[str, Array], state: tuple[int, int, int]) -> None:
        self.weights = weights
        self.heads, self.rows, self.columns = state

    def blank(self, device: Device) -> Session:
        """Return the state and the window before the first token."""
        channels, taps = self.weights["conv_weight"].shape
        state = device.empty((1, self.heads, self.rows, self.columns), np.float32)
        state[...] = 0
        return Session(state, np.zeros((1, taps - 1, channels), np.float32))

    def __call__(self, hidden: Array, session: Session, kind: Pass, stream: Stream) -> Array:
        """Run a pass over ``hidden [1, T, d]``."""
        w, made = self.weights, self.project(hidden)
        window = np.asarray(session.window)
        channels = causal_conv(window, made.inputs, w["conv_weight"], w["conv_bias"])
        outputs = self.recur(channels, made, session, kind, stream)
        if kind != "record":
            session.window = conv_window(window, made.inputs, hidden.shape[1])
        return linear(self.gated(outputs, made.gate), w["out_proj.weight"])

    @abstractmethod
    def project(self, hidden: Array) -> Projection:
        """Project ``hidden [1, T, d]`` for the parts of the layer."""

    @abstractmethod
    def recur(
        self, channels: Array, made: Projection, session: Session, kind: Pass, stream: Stream
    ) -> Array:
        """Take the state past the convolved ``channels [1, T, C]``, or record what would."""

    @abstractmethod
    def gated(self, outputs: Array, gate: Array) -> Array:
        """Normalise and gate the recurrence's outputs, as [1, T, C]."""


class Mamba2(RecurrentLayer):
    """S = decay * S + (dt * x) outer b and y = S c + d * x, one decay a head and token."""

    def __init__(
        self, weights: Mapping[str, Array], state: tuple[int, int, int], groups: int
    ) -> None:
        super().__init__(weights, state)
        self.groups = groups

    def project(self, hidden: Array) -> Projection:
        """Project; the rates are dt."""
        inner = self.heads * self.rows
        projected = linear(hidden, self.weights["in_proj.weight"])
        gate, inputs, dt = np.split(projected, [inner, projected.shape[-1] - self.heads], axis=-1)
        return Projection(inputs, gate, softplus(dt + self.weights["dt_bias"]))

    def recur(
        self, channels: Array, made: Projection, session: Session, kind: Pass, stream: Stream
    ) -> Array:
        """Run the recurrence; x, b and c are the channels."""
        inner, shared = self.heads * self.rows, self.groups * self.columns
        x, b, c = np.split(channels, [inner, inner + shared], axis=-1)
        x = split_heads(x, self.heads)
        b, c = split_heads(b, self.groups), split_heads(c, self.groups)
        step = (x, self.weights["A_log"], b, c, self.weights["D"], made.rates)
        if kind == "record":
            outputs = session.record(*step, inputs=made.inputs, stream=stream)
        else:
            out = (None, session.state)
            outputs, _, _ = ssm_step_record(*step, session.state, tape=None, out=out, stream=stream)
        stream.wait()
        return outputs

    def gated(self, outputs: Array, gate: Array) -> Array:
        """Gate, then normalise over all heads."""
        return rms_norm(outputs.reshape(gate.shape) * silu(gate), self.weights["norm.weight"])


class GatedDeltaNet(RecurrentLayer):
    """The gated delta rule over normalised queries and keys."""

    def project(self, hidden: Array) -> Projection:
        """Project; the rates are what decay and beta follow from."""
        w = self.weights
        inputs, gate = linear(hidden, w["qkv.weight"]), linear(hidden, w["gate.weight"])
        return Projection(inputs, gate, linear(hidden, w["ab.weight"]))

    def recur(
        self, channels: Array, made: Projection, session: Session, kind: Pass, stream: Stream
    ) -> Array:
        """Run the recurrence; q, k and v are the channels."""
        q, k, v = (split_heads(part, self.heads) for part in np.split(channels, 3, axis=-1))
        a, beta = np.split(made.rates, 2, axis=-1)
        g = -np.exp(self.weights["A_log"]) * softplus(a + self.weights["dt_bias"])
        scale = np.float32(self.columns**-0.5)
        tokens = Tokens(unit_norm(q) * scale, unit_norm(k), v, g, sigmoid(beta))
        if kind == "prefill":
            outputs, session.state[...] = chunked(tokens, session.state, stream)
            return outputs
        outputs, after, tape = stepwise(tokens, session.state, stream)
        if kind == "record":
            session.hold(tape, made.inputs)
        else:
            session.state[...] = after
        return outputs

    def gated(self, outputs: Array, gate: Array) -> Array:
        """Normalise each head, then gate."""
        heads = split_heads(gate, self.heads)
        return (rms_norm(outputs, self.weights["norm.weight"]) * silu(heads)).reshape(gate.shape)


def split_heads(channels: Array, heads: int) -> Array:
    """[1, T, heads * D] as a packed [1, T, heads, D]."""
    return np.ascontiguousarray(channels).reshape(*channels.shape[:2], heads, -1)
