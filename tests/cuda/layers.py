"""What the programs of these tests call: layers of a small model on the device cuda."""

import numpy as np

from deltatape import Device, FactoredTape

RNG = np.random.default_rng(0)


def normal(*shape: int) -> np.ndarray:
    return RNG.standard_normal(shape).astype(np.float32)


def placed(device: Device, array: np.ndarray) -> np.ndarray:
    memory = device.empty(array.shape, array.dtype)
    memory[...] = array
    return memory


def tape(device: Device, batch: int = 1) -> FactoredTape:
    """Four entries for states [batch,2,8,64]."""
    arrays = (normal(batch, 4, 2), normal(batch, 4, 2), normal(batch, 4, 2, 8))
    return FactoredTape(*(placed(device, each) for each in (*arrays, normal(batch, 4, 1, 64))))


def state(device: Device, batch: int = 1) -> np.ndarray:
    return placed(device, normal(batch, 2, 8, 64))
