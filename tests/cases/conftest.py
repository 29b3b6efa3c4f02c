"""The dimensions that field cases are tried at."""

import pytest

from deltatape import Device
from deltatape.verification.inputs import Shape

SMALL = Shape(2, 6, 4, 2, 16, 64)
CELLS = (SMALL, Shape(2, 6, 32, 2, 128, 128), Shape(1, 6, 128, 8, 64, 128))
# Where shaders are interpreted by a processor: the same groups and columns, fewer heads and rows.
REDUCED_CELLS = (SMALL, Shape(2, 6, 4, 2, 20, 128), Shape(1, 6, 16, 8, 8, 128))


@pytest.fixture(params=range(3), ids=["small", "few heads", "many heads"])
def cell(request: pytest.FixtureRequest, device: Device) -> Shape:
    software = str(device.info["hardware"]).startswith("Software")
    return (REDUCED_CELLS if software else CELLS)[request.param]
