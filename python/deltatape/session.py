"""A layer's state and convolution window, moved together."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from deltatape._arrays import Array, Operation
from deltatape._devices import Stream
from deltatape.conv import conv_window
from deltatape.kernels.ssm_replay import ssm_replay
from deltatape.kernels.ssm_step_record import ssm_step_record
from deltatape.tapes import DenseTape, FactoredTape

_OPERATION = Operation("session")


class Session:
    """The state and the window of one layer through speculative decoding.

    Each verify pass is recorded, and then kept up to an entry, kept whole, or discarded: a second
    recording before that, or a second rollback after it, is refused.

    Parameters
    ----------
    state
        [B,H,Dh,Ds], float32, float16 or bfloat16. The session owns it and writes it in place.
    window
        [B,K-1,C], the last inputs of the layer's short convolution; None if it has none.

    Attributes
    ----------
    state : ndarray
        The state after what was kept.
    window : ndarray or None
        The window after what was kept.

    Examples
    --------
    >>> import numpy as np, deltatape
    >>> session = deltatape.Session(np.zeros((1, 1, 1, 1), np.float32))
    >>> x, dt = np.ones((1, 3, 1, 1), np.float32), np.ones((1, 3, 1), np.float32)
    >>> y = session.record(x, np.zeros(1, np.float32), x, x, None, dt)
    >>> session.keep(1)  # the first input is right, the drafts after it are not
    >>> session.state.item()
    1.0
    """

    def __init__(self, state: Array, window: npt.ArrayLike | None = None) -> None:
        self.state, _ = _OPERATION.states_output("state", state)
        self.window = None if window is None else np.array(window)
        self._tape: FactoredTape | DenseTape | None = None
        self._inputs: Array | None = None

    @property
    def pending(self) -> FactoredTape | DenseTape | None:
        """The tape that waits for `keep`, `keep_all` or `discard`."""
        return self._tape

    def record(
        self,
        x: npt.ArrayLike,
        a_log: npt.ArrayLike,
        b: npt.ArrayLike,
        c: npt.ArrayLike,
        d: npt.ArrayLike | None,
        dt: npt.ArrayLike,
        mask: npt.ArrayLike | None = None,
        *,
        inputs: npt.ArrayLike | None = None,
        stream: Stream | None = None,
    ) -> Array:
        """Run a verify pass of a Mamba-2 layer and hold its tape; the state stays as it is.

        Parameters
        ----------
        x, a_log, b, c, d, dt, mask, stream
            As in `ssm_step_record`.
        inputs
            [B,T,C], what the layer's convolution was given; required with a window.

        Returns
        -------
        ndarray
            y [B,T,H,Dh].

        Raises
        ------
        InvalidArgument
            The last recording is still pending, or an argument is wrong; nothing is held then.
        """
        self._require_pending(False, "record")
        held = self._convolved(inputs, np.shape(x)[:2])
        y, _, tape = ssm_step_record(
            x, a_log, b, c, d, dt, self.state, mask, advance=False, stream=stream
        )
        self._tape, self._inputs = tape, held
        return y

    def hold(self, tape: FactoredTape | DenseTape, inputs: npt.ArrayLike | None = None) -> None:
        """Hold a tape that the engine has made itself, as for a gated delta net.

        Parameters
        ----------
        tape
            The record of T steps from this session's state.
        inputs
            [B,T,C], what the layer's convolution was given; required with a window.

        Raises
        ------
        InvalidArgument
            The last recording is still pending, or the inputs do not fit.
        """
        self._require_pending(False, "hold")
        held = self._convolved(inputs, (self.state.shape[0], tape.steps))
        self._tape, self._inputs = tape, held

    def keep(self, k: npt.ArrayLike, *, stream: Stream | None = None) -> None:
        """Move state and window to the first k tape entries.

        Parameters
        ----------
        k
            Entries to keep, an integer or [B], 0 <= k <= T: accepted drafts plus one.
        stream
            As in `ssm_replay`; the state is valid after its `wait`.

        Raises
        ------
        InvalidArgument
            Nothing is pending, or k is out of range; state and window stay as they are then, and
            the recording pending.
        """
        tape = self._require_pending(True, "keep")
        window = self.window
        if window is not None and self._inputs is not None:
            window = conv_window(window, self._inputs, k)
        ssm_replay(self.state, tape, k, out=self.state, stream=stream)
        self.window = window
        self.discard()

    def keep_all(self, *, stream: Stream | None = None) -> None:
        """Move state and window to the end of the tape: every draft was right.

        Parameters
        ----------
        stream
            As in `keep`.
        """
        self.keep(self._require_pending(True, "keep_all").steps, stream=stream)

    def discard(self) -> None:
        """Forget the recording; state and window stay as they were before it."""
        self._require_pending(True, "discard")
        self._tape = self._inputs = None

    def _require_pending(self, pending: bool, call: str) -> Any:
        if (self._tape is not None) != pending:
            expected = "record or hold" if pending else "keep, keep_all or discard"
            _OPERATION.refuse(call, f"{expected} before it", "neither")
        return self._tape

    def _convolved(self, inputs: npt.ArrayLike | None, sizes: tuple[int, ...]) -> Array | None:
        """Return the convolution's inputs if they fit the window and the (B, T) of a recording."""
        if (inputs is None) != (self.window is None):
            expected = "None without a window" if self.window is None else "an array with a window"
            _OPERATION.refuse("inputs", expected, "None" if inputs is None else "an array")
        if inputs is None or self.window is None:
            return None
        array = np.asarray(inputs)
        conv_window(self.window, array, 0)
        _OPERATION.shaped("inputs", array, "[B,T,C]", (*sizes, array.shape[-1]))
        return array
