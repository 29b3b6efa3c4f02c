"""What the kernel tests share: trained layers' inputs, and sizes that suit a device."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from deltatape import Device
from deltatape.verification.inputs import Shape, StepInputs, dtype_of, normal
from deltatape.verification.pinned import ONE_NAN

ACTIVATIONS = Path(__file__).parents[1] / "data" / "activations.npz"

# Nemotron-H's and Granite's cells on a device that runs at speed; where shaders are interpreted
# by a processor, cells with the same number of groups, tails and columns and fewer rows.
PRODUCTION = (Shape(2, 8, 32, 2, 128, 128), Shape(1, 8, 128, 8, 64, 128))
REDUCED = (Shape(2, 4, 4, 2, 16, 128), Shape(1, 4, 16, 8, 8, 128))


@pytest.fixture(params=range(len(PRODUCTION)), ids=["few heads", "many heads"])
def production(request: pytest.FixtureRequest, device: Device) -> Shape:
    """A layer's dimensions in production."""
    software = str(device.info["hardware"]).startswith("Software")
    return (REDUCED if software else PRODUCTION)[request.param]


@pytest.fixture
def activations() -> dict[str, np.ndarray]:
    """Inputs of trained layers."""
    with np.load(ACTIVATIONS) as file:
        return dict(file)


@pytest.fixture(params=["layer0", "layer4"])
def trained(
    request: pytest.FixtureRequest, activations: dict[str, np.ndarray]
) -> Callable[[str], StepInputs]:
    """A trained Mamba-2 layer's inputs, given the activations' dtype."""

    def layer(dtype: str) -> StepInputs:
        x, dt, b, c, a_log, d = (
            activations[f"{request.param}.{name}"] for name in ("x", "dt", "B", "C", "A_log", "D")
        )
        x, b, c = (each.astype(np.float32).astype(dtype_of(dtype)) for each in (x, b, c))
        _, _, heads, head_dim = x.shape
        state = normal(np.random.default_rng(8), (1, heads, head_dim, b.shape[3]))
        return StepInputs(x, a_log, b, c, d, dt, state)

    return layer


@pytest.fixture
def special_state(device: Device) -> Callable[..., np.ndarray]:
    """States with both zeros, infinities, NaNs of several bits, tiny and huge values."""

    def state(shape: tuple[int, ...], dtype: str = "float32") -> np.ndarray:
        made = normal(np.random.default_rng(9), shape, dtype)
        one = made.dtype.type
        # A GPU may flush subnormal values, which the promises leave out.
        tiny = 1e-40 if device.name == "cpu" and dtype != "float16" else 1e-7
        values = [one(v) for v in (-0.0, 0.0, np.inf, -np.inf, tiny, -tiny, 6e4)]
        flat = made.reshape(-1)
        for at, value in enumerate(values):
            flat[at::23] = value
        flat.view(f"u{made.itemsize}")[len(values) :: 23] = ONE_NAN[dtype] + 5
        return made

    return state
