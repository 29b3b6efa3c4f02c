"""``deltatape paths``."""

from pathlib import Path

import pytest

from deltatape import _native
from deltatape.cli import main

HOLDS = {
    "--include": "deltatape.h",
    "--lib": "libdeltatape.*",
    "--cmake": "deltatapeConfig.cmake",
    "--pkgconfig": "deltatape.pc",
}


@pytest.mark.parametrize("option", HOLDS)
def test_each_folder_is_there_and_holds_what_it_should(
    option: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["paths", option]) == 0
    folder = Path(capsys.readouterr().out.strip())
    assert list(folder.glob(HOLDS[option]))


@pytest.mark.parametrize("option", HOLDS)
def test_a_folder_that_is_missing_is_told(
    option: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(_native, "INSTALLED", tmp_path)
    assert main(["paths", option]) == 1
    assert str(tmp_path) in capsys.readouterr().out


@pytest.mark.parametrize("options", [[], ["--lib", "--cmake"]])
def test_exactly_one_folder_is_asked_for(options: list[str]) -> None:
    with pytest.raises(SystemExit) as exit_code:
        main(["paths", *options])
    assert exit_code.value.code == 2
