"""The gated delta rule, over chunks for prefill and token by token for decoding.

For each head, with the state S of [Dv, Dk] and a token's q, k, v, g and beta::

    u = beta * (v - exp(g) * S k)
    S = exp(g) * S + u outer k
    o = S q

Source: Yang, Kautz and Hatamizadeh, "Gated Delta Networks", 2024.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from deltatape import FactoredTape, Stream, chunk_tri_solve_invert, ssm_replay

from .arithmetic import Array

CHUNK = 64


class Tokens(NamedTuple):
    """A layer's inputs: q, k and v of [B, T, H, D], the log decay g and beta of [B, T, H]."""

    q: Array
    k: Array
    v: Array
    g: Array
    beta: Array

    def chunks(self) -> Iterator[tuple[slice, Tokens]]:
        """Yield each chunk's rows and its inputs, there with the heads ahead of the rows."""
        steps = self.q.shape[1]
        for start in range(0, steps, CHUNK):
            rows = slice(start, min(start + CHUNK, steps))
            yield rows, Tokens(*(part[:, rows].swapaxes(1, 2) for part in self))


def stepwise(tokens: Tokens, state: Array, stream: Stream) -> tuple[Array, Array, FactoredTape]:
    """Follow the rule token by token.

    The state moves by one-entry replays, because a later replay of several entries arrives at their
    bits. A product in numpy would round differently.

    Returns
    -------
    outputs
        [B, T, H, Dv].
    state
        After the last token; the one given is not written.
    tape
        All tokens' decays, corrected values u and keys.
    """
    q, k, v, g, beta = tokens
    decay, corrected, outputs = np.exp(g), np.empty_like(v), np.empty_like(v)
    for t in range(q.shape[1]):
        seen = decay[:, t, :, None] * (state @ k[:, t, :, :, None])[..., 0]
        corrected[:, t] = beta[:, t, :, None] * (v[:, t] - seen)
        now = slice(t, t + 1)
        entry = FactoredTape(decay[:, now], None, corrected[:, now], k[:, now])
        state = ssm_replay(state, entry, 1, stream=stream)
        stream.wait()
        outputs[:, t] = (state @ q[:, t, :, :, None])[..., 0]
    return outputs, state, FactoredTape(decay, None, corrected, k)


def chunked(tokens: Tokens, state: Array, stream: Stream) -> tuple[Array, Array]:
    """Follow the rule a chunk at a time; return the outputs and the state after the last token."""
    inverses = chunk_inverses(tokens, stream)
    outputs = np.empty_like(tokens.v)
    for rows, chunk in tokens.chunks():
        inverse = inverses[:, rows, :, : rows.stop - rows.start].swapaxes(1, 2)
        chunk_outputs, state = follow_chunk(chunk, inverse, state)
        outputs[:, rows] = chunk_outputs.swapaxes(1, 2)
    return outputs, state


def chunk_inverses(tokens: Tokens, stream: Stream) -> Array:
    """Invert, for each chunk, I + what each of its rows reads back from the earlier ones.

    Returns
    -------
    inverses
        [B, T, H, CHUNK]; a last chunk of fewer rows leaves the columns beyond them 0.
    """
    couplings = np.zeros((*tokens.g.shape, CHUNK), np.float32)
    for rows, (_, k, _, g, beta) in tokens.chunks():
        coupling = beta[..., None] * (k @ k.swapaxes(-1, -2)) * decay_between(g)
        couplings[:, rows, :, : rows.stop - rows.start] = coupling.swapaxes(1, 2)
    inverses: Array = chunk_tri_solve_invert(couplings, stream=stream)
    stream.wait()
    return inverses


def follow_chunk(chunk: Tokens, inverse: Array, state: Array) -> tuple[Array, Array]:
    """Return one chunk's outputs [B, H, rows, Dv] and the state after it."""
    q, k, v, g, beta = chunk
    total = np.cumsum(g, axis=-1)[..., None]
    since_start, until_end = np.exp(total), np.exp(total[..., -1:, :] - total)
    before = state.swapaxes(-1, -2)
    corrected = inverse @ (beta[..., None] * (v - since_start * (k @ before)))
    scores = np.tril((q @ k.swapaxes(-1, -2)) * decay_between(g))
    outputs: Array = since_start * (q @ before) + scores @ corrected
    after: Array = since_start[..., -1:, :] * state
    return outputs, after + corrected.swapaxes(-1, -2) @ (k * until_end)


def decay_between(g: Array) -> Array:
    """[..., i, j]: the decay from row j to a later row i; 1 above the diagonal."""
    total = np.cumsum(g, axis=-1)
    between: Array = np.exp(np.minimum(total[..., :, None] - total[..., None, :], np.float32(0)))
    return between
