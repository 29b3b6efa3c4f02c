"""The convolution's window, which has to go back together with the state."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from deltatape._arrays import Array, Operation

_OPERATION = Operation("conv_window")


def conv_window(window: npt.ArrayLike, inputs: npt.ArrayLike, k: npt.ArrayLike) -> Array:
    """Return a causal convolution's window after the first k of some inputs.

    A layer whose short convolution has K taps needs the last K-1 inputs. After a rollback of its
    state to k tape entries, its window is this one; left where it was, the output drifts.

    Parameters
    ----------
    window
        [B,K-1,C], oldest first: the window from before the inputs. K = 1 has an empty one.
    inputs
        [B,T,C] of the same type: what the convolution was given, one row a tape entry.
    k
        Inputs to keep, an integer or [B], 0 <= k <= T; any k, also beyond K-1.

    Returns
    -------
    ndarray
        A new [B,K-1,C]: rows k .. k+K-2 of the old window followed by the inputs.

    Raises
    ------
    InvalidArgument
        A shape does not fit, or k is out of range.
    UnsupportedDType
        The element types differ, or k is not an integer.

    Notes
    -----
    Engines keep windows in two layouts. In the sliding layout one buffer holds the old window and
    the inputs, [B,K-1+T,C], and the window after k is its rows from k on. In the layout of one
    window a token, [B,T,K-1,C], the window after k is that of token k-1, and the old one for k = 0.
    Both name the same rows. For a buffer [B,C,K-1], channels first, pass ``swapaxes(1, 2)``.

    Examples
    --------
    >>> import numpy as np, deltatape
    >>> window, inputs = np.zeros((1, 3, 1)), np.arange(1.0, 6.0).reshape(1, 5, 1)
    >>> deltatape.conv_window(window, inputs, 2)[0, :, 0].tolist()
    [0.0, 1.0, 2.0]
    """
    old, new = np.asarray(window), np.asarray(inputs)
    if old.dtype != new.dtype:
        _OPERATION.refuse_dtype("inputs", f"window's {old.dtype}", new.dtype)
    B, T, C = _OPERATION.sizes("inputs", new, "[B,T,C]")
    taps = _OPERATION.sizes("window", old, "[B,K-1,C]")[1]
    _OPERATION.shaped("window", old, "[B,K-1,C]", (B, taps, C))
    kept = _OPERATION.per_sequence("k", k, B)
    if kept.size and (kept.min() < 0 or kept.max() > T):
        _OPERATION.refuse("k", f"0 <= k <= T = {T}", kept.tolist())
    rows = kept[:, None] + np.arange(taps)
    return np.take_along_axis(np.concatenate((old, new), axis=1), rows[:, :, None], axis=1)
