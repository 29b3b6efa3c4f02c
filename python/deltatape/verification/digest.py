"""Digests of results: equal on two machines, paths or numbers of threads exactly if the bytes are.

``python -m deltatape.verification.digest [B,T,H,G,Dh,Ds]`` prints them for the default device.
"""

from __future__ import annotations

import hashlib
import json
import sys
from collections.abc import Sequence

from deltatape import Device
from deltatape.verification.calls import record
from deltatape.verification.case import Array
from deltatape.verification.inputs import DTYPES, Shape, matrices, step_inputs
from deltatape.verification.promises import bytes_of

ODD = Shape(3, 9, 6, 3, 7, 41)


def digests(device: Device, shape: Shape) -> dict[str, str]:
    """SHA-256 of every result of calls in each dtype; y's depend on the device."""
    results: dict[str, Array] = {}
    for dtype in DTYPES:
        inputs = step_inputs(shape, 7, dtype, dtype, dtype)
        a = matrices((1, 70 + shape.steps, shape.heads, 64), 7, dtype)
        named = {"y": record(device, inputs)[0], **bytes_of(device, inputs, a)}
        results |= {f"{name}, {dtype}": array for name, array in named.items()}
    return {name: hashlib.sha256(array.tobytes()).hexdigest() for name, array in results.items()}


def main(arguments: Sequence[str]) -> None:
    """Print one JSON object: what ran, and the digests."""
    shape = Shape(*map(int, arguments[0].split(","))) if arguments else ODD
    with Device() as device:
        json.dump({"device": device.info, "digests": digests(device, shape)}, sys.stdout)
    print()


if __name__ == "__main__":
    main(sys.argv[1:])
