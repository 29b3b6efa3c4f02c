"""What every test shares: each device that can be opened here."""

from collections.abc import Iterator

import pytest

import deltatape
from deltatape import Device, Stream


@pytest.fixture(scope="session", params=deltatape.devices())
def device(request: pytest.FixtureRequest) -> Iterator[Device]:
    """A device; a test that takes it runs once on each."""
    with Device(request.param) as device:
        yield device


@pytest.fixture
def stream(device: Device) -> Iterator[Stream]:
    """A stream on `device`."""
    with device.stream() as stream:
        yield stream
