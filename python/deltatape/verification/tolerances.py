"""The bounds that results are compared with: one table, for ``verify`` and the tests alike.

u is half a unit in the last place of a type, relative to the value.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

UNIT = {"float32": 2.0**-24, "float16": 2.0**-11, "bfloat16": 2.0**-8}

# State, y and replay: the largest error of a head over its largest value. float32 rounds once a
# step, and 64 steps of u are 3.8e-6; a 16-bit result rounds once when it is stored, and 4 u leaves
# room for elements that are stored between calls.
NORMWISE = {"float32": 5e-6, "float16": 2e-3, "bfloat16": 1.6e-2}
NORMWISE_STEPS = 64

# exp is within 1 ulp (2 u). Its argument -exp(a_log) * dt is off by 2 u from the inner exp and by
# u from the product, relative to itself. The result is then off by 3 u |argument| + 2 u, and by u
# for the terms of second order. Below 2**-126 it is 0.
EXP_ULPS = 2.0
SMALLEST_NORMAL = 2.0**-126


def normwise(dtype: object, steps: int = 1) -> float:
    """Bound on max|error| / max|reference| of a head after `steps` steps."""
    name = str(np.dtype(dtype))  # type: ignore[call-overload]
    longer = max(1.0, steps / NORMWISE_STEPS) if name == "float32" else 1.0
    return NORMWISE[name] * longer


def decay(argument: NDArray[np.float64]) -> NDArray[np.float64]:
    """Bound on the error of exp(argument), elementwise."""
    finite = np.maximum(argument, -1000.0)
    relative = (3.0 * np.abs(finite) + EXP_ULPS + 1.0) * UNIT["float32"]
    bound: NDArray[np.float64] = np.exp(finite) * relative + SMALLEST_NORMAL
    return bound


def inverse(
    strict: NDArray[np.float64], exact: NDArray[np.float64], dtype: object
) -> NDArray[np.float64]:
    """Elementwise bound on the inverse of chunks, 2 n u |X| |L| |X|, and the rounding of storage.

    Forward substitution in float32 meets it whatever the matrix: L's rows are n long, so each
    element is a sum of at most n rounded terms, and X appears twice because errors in earlier rows
    travel through the inverse. Terms below the normal range may be lost, each of the n in a row.
    """
    rows = exact.shape[-1]
    size = np.abs(exact)
    lost = rows * SMALLEST_NORMAL * size.sum(axis=-1, keepdims=True)
    bound: NDArray[np.float64] = 2 * rows * UNIT["float32"] * (size @ np.abs(strict) @ size) + lost
    name = str(np.dtype(dtype))  # type: ignore[call-overload]
    if name == "float32":
        return bound
    smallest = 2.0**-25 if name == "float16" else 0.0
    return np.asarray(bound + UNIT[name] * (size + bound) + smallest)
