"""``deltatape demo`` as a user meets it."""

import json
from pathlib import Path

import pytest

from deltatape import Device, cli, conv_window, session
from deltatape.cli import demo

KEYS = [
    "device",
    "text",
    "identical",
    "drafted",
    "accepted",
    "rounds",
    "tokens",
    "tape_bytes",
    "snapshot_bytes",
    "plain_seconds",
    "speculative_seconds",
]


@pytest.fixture
def prompt(tmp_path: Path, held_out: bytes) -> str:
    path = tmp_path / "prompt.txt"
    path.write_bytes(held_out[:1000])
    return str(path)


def test_json_has_the_documented_keys(capsys: pytest.CaptureFixture[str], prompt: str) -> None:
    words = ["demo", "--prompt", prompt, "--tokens", "80", "--draft", "5", "--device", "cpu"]
    assert cli.main([*words, "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert list(report) == KEYS
    assert report["device"] == "cpu"
    assert report["identical"] is True
    assert report["tokens"] == len(report["text"].encode("latin-1")) == 80
    assert report["rounds"] == 80 - report["accepted"]
    assert 0 < report["accepted"] <= report["drafted"]
    assert 0 < 10 * report["tape_bytes"] < report["snapshot_bytes"]
    assert min(report["plain_seconds"], report["speculative_seconds"]) > 0


def test_every_device_decodes_to_the_same_text(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, held_out: bytes, device: Device
) -> None:
    (tmp_path / "prompt").write_bytes(held_out[:70])
    words = ["demo", "--prompt", str(tmp_path / "prompt"), "--tokens", "6", "--json", "--device"]
    assert cli.main([*words, device.name]) == cli.main([*words, "cpu"]) == 0
    found, expected = map(json.loads, capsys.readouterr().out.splitlines())
    assert found["device"] == device.name
    assert found["text"] == expected["text"]


def test_the_text_comes_with_accepted_drafts_marked_and_a_table(
    capsys: pytest.CaptureFixture[str], prompt: str
) -> None:
    words = ["demo", "--prompt", prompt, "--tokens", "80", "--device", "cpu"]
    assert cli.main([*words, "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert cli.main(words) == 0
    legend, _, rest = capsys.readouterr().out.partition("\n\n")
    assert "«" in legend
    assert rest.replace("«", "").replace("»", "").startswith(report["text"])
    assert f"{report['accepted']} of {report['drafted']}" in rest
    assert f"{report['tape_bytes']:,}" in rest
    assert f"{report['snapshot_bytes']:,}" in rest


def test_a_standard_library_source_is_continued_by_default(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert cli.main(["demo", "--tokens", "40", "--device", "cpu", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["accepted"] > 0


def test_texts_that_differ_are_a_failure(
    capsys: pytest.CaptureFixture[str], prompt: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(session, "conv_window", lambda w, i, _k: conv_window(w, i, i.shape[1]))
    monkeypatch.setattr(demo, "prompt_lookup", lambda _text, most: b"~" * most)
    words = ["demo", "--prompt", prompt, "--tokens", "80", "--device", "cpu"]
    assert cli.main([*words, "--json"]) == 1
    assert json.loads(capsys.readouterr().out)["identical"] is False
    assert cli.main(words) == 1
    assert "DIFFER" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--tokens", "0"], "--tokens: expected a number of 1 or more, got '0'"),
        (["--tokens", "-3"], "--tokens: expected a number of 1 or more, got '-3'"),
        (["--draft", "few"], "--draft: expected a number of 1 or more, got 'few'"),
        (["--prompt", "/no/such/file"], "--prompt: expected a readable file, got"),
        (["--prompt", "/dev/null"], "--prompt: expected a file that is not empty, got '/dev/null'"),
        (["--device", "abacus"], "abacus"),
    ],
)
def test_bad_options_are_refused_in_a_sentence(
    capsys: pytest.CaptureFixture[str], words: list[str], message: str
) -> None:
    try:
        code = cli.main(["demo", *words])
    except SystemExit as refused:
        code = refused.code
    printed = capsys.readouterr()
    assert code == 2
    assert message in printed.err
    assert printed.out == ""


def test_without_the_librarys_source_a_prompt_is_asked_for(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(demo, "find_spec", lambda _name: None)
    assert cli.main(["demo", "--device", "cpu"]) == 2
    assert "--prompt: expected a file" in capsys.readouterr().err
