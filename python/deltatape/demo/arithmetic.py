"""The layers' float32 arithmetic, in which a token's bits do not depend on its company.

Greedy decoding compares logits, so a pass over several tokens must give each of them the bits that
a pass over that token alone would give. Everything here works row by row for that reason.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float32]


def linear(rows: Array, weight: Array) -> Array:
    """Multiply ``rows [..., in]`` by ``weight [out, in]`` transposed.

    A matrix product sums in another order for each number of rows. A stack of one-row products does
    not, and costs little where the weights stay in the cache.
    """
    product: Array = np.matmul(rows[..., None, :], weight.T)[..., 0, :]
    return product


def rms_norm(rows: Array, weight: Array, epsilon: float = 1e-5) -> Array:
    """Scale the last axis to a root mean square of one, then by `weight`."""
    power = np.mean(rows * rows, axis=-1, keepdims=True)
    scaled: Array = rows / np.sqrt(power + np.float32(epsilon)) * weight
    return scaled


def unit_norm(rows: Array, epsilon: float = 1e-6) -> Array:
    """Scale the last axis to a length of one."""
    power = np.sum(rows * rows, axis=-1, keepdims=True)
    scaled: Array = rows / np.sqrt(power + np.float32(epsilon))
    return scaled


def sigmoid(x: Array) -> Array:
    """1 / (1 + exp(-x)), by a form that cannot overflow."""
    half = np.float32(0.5)
    result: Array = half + half * np.tanh(half * x)
    return result


def silu(x: Array) -> Array:
    """X * sigmoid(x)."""
    return x * sigmoid(x)


def softplus(x: Array) -> Array:
    """log(1 + exp(x)), by a form that cannot overflow."""
    result: Array = np.logaddexp(np.float32(0), x)
    return result


def causal_conv(window: Array, inputs: Array, weight: Array, bias: Array) -> Array:
    """Convolve each channel with the K inputs that end at it, then apply SiLU.

    Parameters
    ----------
    window
        [B, K-1, C], the inputs before these.
    inputs
        [B, T, C].
    weight, bias
        [C, K] and [C].
    """
    steps = inputs.shape[1]
    history = np.concatenate([window, inputs], axis=1)
    taps = (history[:, at : at + steps] * weight[:, at] for at in range(weight.shape[1]))
    total: Array = sum(taps, start=bias)
    return silu(total)
