"""``deltatape info``."""

import json
import platform
from pathlib import Path

import numpy as np
import pytest

import deltatape
from deltatape import Device, _native
from deltatape.cli import main


def test_json_holds_versions_the_library_and_the_devices(
    device: Device, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["info", "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert report["deltatape"] == deltatape.__version__
    assert report["library version"] == _native.library_version()
    assert report["abi"] == _native.ABI_VERSION
    assert report["python"] == platform.python_version()
    assert report["numpy"] == np.__version__
    assert Path(report["library"]).is_file()
    assert report["devices"][device.name] == device.info
    assert list(report["devices"]) == _native.built_in_devices()


def test_the_table_shows_the_same(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["info", "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert main(["info"]) == 0
    shown = "".join(capsys.readouterr().out.split())
    for value in (report["deltatape"], report["numpy"], report["devices"]["cpu"]["path"]):
        assert value in shown


def test_a_device_that_cannot_be_opened_says_why(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def refuse(name: str) -> None:
        raise deltatape.DeviceUnavailable(f"[open] device: expected a GPU for {name}, got none")

    monkeypatch.setattr(deltatape, "Device", refuse)
    assert main(["info", "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    reason = report["devices"]["cpu"]["unavailable"]
    assert reason == "[open] device: expected a GPU for cpu, got none"
