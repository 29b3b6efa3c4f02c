"""The convolution's window after k inputs."""

from typing import Any

import ml_dtypes
import numpy as np
import pytest

from deltatape import InvalidArgument, UnsupportedDType, conv_window

B, T, C = 3, 5, 2


def counted(taps: int, dtype: Any = np.float32) -> tuple[np.ndarray, np.ndarray]:
    """Values that tell which row they come from: the old window is negative."""
    rows = np.arange(1 - taps, T, dtype=np.float32)
    both = np.stack([np.stack([rows + 100 * b, rows - 100 * b], -1) for b in range(B)])
    both = both.astype(dtype)
    return both[:, : taps - 1], both[:, taps - 1 :]


@pytest.mark.parametrize("taps", [1, 2, 4, 9])
@pytest.mark.parametrize("dtype", ["float32", "float16", ml_dtypes.bfloat16, "float64", "int8"])
def test_the_rows_that_end_at_k(taps: int, dtype: Any) -> None:
    window, inputs = counted(taps, dtype)
    before = window.tobytes(), inputs.tobytes()
    for k in range(T + 1):
        got = conv_window(window, inputs, k)
        expected = np.concatenate((window, inputs), 1)[:, k : k + taps - 1]
        assert got.shape == (B, taps - 1, C)
        assert got.dtype == window.dtype
        assert got.tobytes() == expected.tobytes()
    assert (window.tobytes(), inputs.tobytes()) == before


def test_every_sequence_has_its_own_k() -> None:
    window, inputs = counted(4)
    got = conv_window(window, inputs, [0, 2, 5])
    for b, k in enumerate((0, 2, 5)):
        assert got[b].tobytes() == conv_window(window, inputs, k)[b].tobytes()


def test_the_window_is_new() -> None:
    window, inputs = counted(4)
    conv_window(window, inputs, 0)[...] = 7
    assert (window != 7).all()


def test_channels_first_is_a_transposition_away() -> None:
    window, inputs = counted(4)
    first = np.ascontiguousarray(window.swapaxes(1, 2))
    got = conv_window(first.swapaxes(1, 2), inputs, 3)
    assert got.tobytes() == conv_window(window, inputs, 3).tobytes()


def test_no_sequences_and_no_inputs() -> None:
    window, inputs = counted(4)
    assert conv_window(window[:0], inputs[:0], 2).shape == (0, 3, C)
    assert conv_window(window, inputs[:, :0], 0).tobytes() == window.tobytes()


@pytest.mark.parametrize(
    ("change", "error", "named"),
    [
        ({"window": np.zeros((B, 3), np.float32)}, InvalidArgument, "window"),
        ({"window": np.zeros((B, 3, C + 1), np.float32)}, InvalidArgument, "window"),
        ({"window": np.zeros((B + 1, 3, C), np.float32)}, InvalidArgument, "window"),
        ({"inputs": np.zeros((B, T), np.float32)}, InvalidArgument, "inputs"),
        ({"inputs": np.zeros((B, T, C))}, UnsupportedDType, "inputs"),
        ({"k": -1}, InvalidArgument, "k"),
        ({"k": T + 1}, InvalidArgument, "k"),
        ({"k": [0, 1, T + 1]}, InvalidArgument, "k"),
        ({"k": [0, 1]}, InvalidArgument, "k"),
        ({"k": 1.0}, UnsupportedDType, "k"),
        ({"k": True}, UnsupportedDType, "k"),
        ({"k": 2**40}, InvalidArgument, "k"),
    ],
)
def test_what_does_not_fit_is_refused(change: dict[str, Any], error: type, named: str) -> None:
    window, inputs = counted(4)
    arguments = {"window": window, "inputs": inputs, "k": 1} | change
    with pytest.raises(error, match=rf"^\[conv_window\] {named}: expected .+, got"):
        conv_window(**arguments)
