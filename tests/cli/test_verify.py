"""``deltatape verify``."""

import json

import pytest

import deltatape
from deltatape import Device, verification
from deltatape.cli import main
from deltatape.verification import tolerances


def test_every_case_passes_and_is_a_line_of_the_table(
    device: Device, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["verify", "--device", device.name]) == 0
    shown = capsys.readouterr().out
    cases = list(verification.cases(device.name))
    assert shown.count("pass") == len(cases)
    for value in (deltatape.__version__, device.info["hardware"], device.info["path"]):
        assert str(value) in shown
    assert "failed=0" in shown


def test_json_holds_the_device_and_every_row(
    device: Device, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["verify", "--device", device.name, "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert report["name"] == device.name
    assert report["deltatape"] == deltatape.__version__
    assert report["failed"] == 0
    assert report["cases"] == len(report["rows"])
    assert {row["kernel"] for row in report["rows"]} == set(verification.KERNELS)
    for row in report["rows"]:
        assert row["passed"]
        assert 0 <= row["error"] <= row["bound"]


@pytest.mark.parametrize("kernel", verification.KERNELS)
def test_one_kernel_can_be_chosen(kernel: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["verify", "--device", "cpu", "--kernel", kernel, "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)["rows"]
    assert {row["kernel"] for row in rows} == {kernel}


def test_an_error_above_its_bound_is_a_failure(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(tolerances.NORMWISE, "float32", 1e-12)
    assert main(["verify", "--device", "cpu", "--kernel", "ssm_replay"]) == 1
    shown = capsys.readouterr().out
    assert "FAIL" in shown
    assert "failed=0" not in shown


def test_a_kernels_error_is_a_failure_with_its_sentence(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise deltatape.NotOffered("[ssm_replay] device: expected one that offers it, got another")

    monkeypatch.setattr(deltatape, "ssm_replay", refuse)
    assert main(["verify", "--device", "cpu", "--kernel", "ssm_replay"]) == 1
    shown = capsys.readouterr().out
    assert "ERROR" in shown
    assert "[ssm_replay] device: expected one that offers it, got another" in shown


def test_a_device_that_there_is_not_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["verify", "--device", "abacus"]) == 2
    assert "abacus" in capsys.readouterr().err
