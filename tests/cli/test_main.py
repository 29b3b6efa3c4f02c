"""What all verbs share: the parser, and how errors leave the process."""

import subprocess
import sys

import pytest

import deltatape
from deltatape import cli
from deltatape.cli import paths

PROGRAM = [sys.executable, "-m", "deltatape"]


def test_every_verb_explains_itself(capsys: pytest.CaptureFixture[str]) -> None:
    for verb in cli.VERBS:
        with pytest.raises(SystemExit) as left:
            cli.main([verb, "--help"])
        assert left.value.code == 0
        assert f"deltatape {verb}" in capsys.readouterr().out


@pytest.mark.parametrize("words", [[], ["dance"], ["info", "--loud"]])
def test_what_is_no_verb_or_option_is_refused(
    capsys: pytest.CaptureFixture[str], words: list[str]
) -> None:
    with pytest.raises(SystemExit) as left:
        cli.main(words)
    assert left.value.code == 2
    assert "error:" in capsys.readouterr().err


def test_the_version_is_the_packages() -> None:
    done = subprocess.run([*PROGRAM, "--version"], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["deltatape", deltatape.__version__]


@pytest.mark.parametrize(
    ("error", "code"),
    [(deltatape.DeviceUnavailable("[device] name: expected one"), 2), (KeyboardInterrupt(), 130)],
)
def test_an_error_becomes_an_exit_code_and_no_traceback(
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    error: BaseException,
    code: int,
) -> None:
    def fail(_arguments: object) -> int:
        raise error

    monkeypatch.setattr(paths, "run", fail)
    assert cli.main(["paths", "--lib"]) == code
    printed = capsys.readouterr().err
    assert printed == (f"deltatape paths: {error}\n" if code == 2 else "")


def test_a_reader_that_goes_away_is_no_traceback() -> None:
    words = ["demo", "--device", "cpu", "--tokens", "40"]
    with subprocess.Popen(
        [*PROGRAM, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as running:
        assert running.stdout
        assert running.stderr
        running.stdout.close()
        assert running.stderr.read() == b""
    assert running.returncode == 1
