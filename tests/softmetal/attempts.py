"""A process that inverts a matrix on the device metal once for each fault in its arguments.

Prints one JSON list: for each attempt the exception's name, code and message, whether the output
was left alone, and whether it holds the CPU's bytes. "" is no fault.
"""

import json
import os
import sys

import numpy as np

import deltatape
from deltatape.verification.inputs import matrices

POISON = np.float32(7)


def attempt(fault: str, a: np.ndarray, expected: bytes) -> dict[str, object]:
    os.environ["SOFTMETAL_FAULT"] = fault
    out = np.full(a.shape, POISON)
    told = {"error": "", "code": 0, "message": ""}
    try:
        with deltatape.Device("metal") as device, device.stream() as stream:
            deltatape.chunk_tri_solve_invert(a, out=out, stream=stream)
    except deltatape.Error as error:
        told = {"error": type(error).__name__, "code": error.code, "message": str(error)}
    return {
        **told,
        "untouched": bool((out == POISON).all()),
        "right": out.tobytes() == expected,
    }


def main(faults: list[str]) -> None:
    a = matrices((1, 40, 3, 32), 1)
    with deltatape.Device("cpu") as device, device.stream() as stream:
        expected = deltatape.chunk_tri_solve_invert(a, stream=stream)
    json.dump([attempt(fault, a, expected.tobytes()) for fault in faults], sys.stdout)


if __name__ == "__main__":
    main(sys.argv[1:])
